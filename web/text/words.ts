const whole = new Intl.NumberFormat('en')

export function sayCount(count: number, one: string, many = `${one}s`): string {
  return `${whole.format(count)} ${count === 1 ? one : many}`
}

export function sayNumber(number: number): string {
  return whole.format(number)
}

export function saySize(sizeBytes: number): string {
  if (sizeBytes < 1024) return `${sizeBytes} B`
  const units = ['KB', 'MB', 'GB'] as const
  let size = sizeBytes / 1024
  let unit = 0
  while (size >= 1024 && unit < units.length - 1) {
    size /= 1024
    unit += 1
  }
  return `${size.toFixed(size < 100 ? 1 : 0)} ${units[unit]}`
}

export function sayTime(timeMs: number): string {
  return timeMs < 1000 ? `${timeMs} ms` : `${(timeMs / 1000).toFixed(1)} s`
}

const presets: Array<{ cron: string; words: string }> = [
  { cron: '*/15 * * * *', words: 'Every 15 minutes' },
  { cron: '0 * * * *', words: 'Every hour' },
  { cron: '0 6 * * *', words: 'Every day at 06:00' },
  { cron: '0 6 * * 1', words: 'Every Monday at 06:00' },
]

export const schedulePresets = presets.map(({ cron, words }) => ({ value: cron, label: words }))

export function saySchedule(cron: string | null): string {
  if (cron === null || cron === '') return 'By hand'
  return presets.find((preset) => preset.cron === cron)?.words ?? cron
}

/** A value as one short line of a table. */
export function sayValue(value: unknown): string {
  if (value === null || value === undefined) return ''
  return typeof value === 'string' ? value : JSON.stringify(value)
}

/** Beyond this, a cell or a line shows the beginning. */
const mostShown = 1_000

/** The beginning of a value: for cells, titles and lines, whose cost must not grow with what they stand for. */
export function sayBeginning(value: unknown, most = mostShown): string {
  if (typeof value === 'string') return value.length > most ? `${value.slice(0, most)}…` : value
  if (typeof value !== 'object' || value === null) return sayValue(value)
  const pieces: string[] = []
  const left = writeJson(value, pieces, most)
  return left < 0 ? `${pieces.join('').slice(0, most)}…` : pieces.join('')
}

function* elements(list: unknown[]): Generator<[null, unknown]> {
  for (const element of list) yield [null, element]
}

/** Writes JSON until there is no room left; a negative rest says that not all of it was written. */
function writeJson(value: unknown, pieces: string[], room: number): number {
  const put = (text: string, rest: number): number => {
    pieces.push(text)
    return rest - text.length
  }
  if (typeof value === 'string') return put(JSON.stringify(value.slice(0, room + 1)), room)
  if (typeof value !== 'object' || value === null) return put(JSON.stringify(value), room)
  const [open, close] = Array.isArray(value) ? '[]' : '{}'
  const members: Iterable<[string | null, unknown]> = Array.isArray(value) ? elements(value) : Object.entries(value)
  let left = put(open ?? '', room)
  let separator = ''
  for (const [key, member] of members) {
    if (left < 0) return left
    left = put(key === null ? separator : `${separator}${JSON.stringify(key)}:`, left)
    left = writeJson(member, pieces, left)
    separator = ','
  }
  return put(close ?? '', left)
}

/** DuckDB's names of types as people say them. */
export function sayType(type: string): string {
  const plain = type.toUpperCase()
  if (plain.endsWith('[]')) return 'list'
  if (plain.startsWith('STRUCT') || plain.startsWith('MAP') || plain === 'JSON') return 'object'
  if (plain.startsWith('DECIMAL')) return 'number'
  if (plain.startsWith('TIMESTAMP')) return 'time'
  const known: Record<string, string> = {
    VARCHAR: 'text',
    BOOLEAN: 'true or false',
    DATE: 'date',
    TIME: 'time of day',
    DOUBLE: 'number',
    FLOAT: 'number',
    BIGINT: 'integer',
    INTEGER: 'integer',
    SMALLINT: 'integer',
    TINYINT: 'integer',
    HUGEINT: 'integer',
    UBIGINT: 'integer',
  }
  return known[plain] ?? type.toLowerCase()
}

export function isNumeric(type: string): boolean {
  return /^(U?(TINY|SMALL|BIG|HUGE)?INT(EGER)?|DOUBLE|FLOAT|DECIMAL.*)$/i.test(type)
}
