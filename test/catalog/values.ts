import type { Fields } from './contract.ts'

const start = Date.parse('2026-03-01T00:00:00Z')
const hourMs = 3_600_000
const isTime =
  /(^|_)(at|on|date|time|created|updated|modified|changed|timestamp|seen|since|activity)$|(At|Date|Time|Timestamp|Created|Updated|Modified|Seen|Activity)$/
const isId = /(^|_)(id|gid|sid|uid|uuid|number|key|sha|serial|code)$|(Id|ID)$/
const currencies = 'USD EUR GBP JPY CHF CAD AUD CNY SEK NOK DKK PLN CZK HUF INR BRL ZAR MXN KRW SGD'.split(' ')

/** The value of a field in the row of that number: ids differ from row to row, times grow. */
export function valueOf(name: string, fields: Fields, row: number, names: string[] = []): unknown {
  if (Array.isArray(fields)) return fields[0] === undefined ? [] : [valueOf(name, fields[0], row, names)]
  if (typeof fields === 'object') return objectOf(fields, row, names)
  const [, type = '', format = '', listed = ''] = /^(\w+)(?::([\w-]+))?(?:\((.*)\))?\??$/s.exec(fields) ?? []
  const at = new Date(start + row * hourMs).toISOString()
  if (listed !== '') {
    const values = listed.split('|')
    return values[row % values.length]
  }
  if (type === 'boolean') return row % 2 === 0
  if (type === 'integer' || type === 'number') return numberOf(name, { format, type, row })
  if (type === 'object') return { note: `${name} ${row}` }
  if (type === 'any') return null
  if (format === 'date') return new Date(start + row * 24 * hourMs).toISOString().slice(0, 10)
  if (format === 'email') return `person${row}@shop.example`
  if (format === 'uri') return `https://shop.example/${name}/${row}`
  if (format === 'uuid') return `00000000-0000-4000-8000-${String(row).padStart(12, '0')}`
  if (format === 'decimal' || /amount|price|value$/i.test(name)) return `${row}.50`
  if (format === 'date-time' || isTime.test(name)) return `${at.slice(0, -5)}Z`
  if (name === 'ts') return `${start / 1000 + row}.000100`
  if (name === 'quote' || name === 'currency') return currencies[row % currencies.length]
  return isId.test(name) ? `${name.toLowerCase()}-${row}` : `${name} ${row}`
}

function numberOf(name: string, { format, type, row }: { format: string; type: string; row: number }): number {
  if (/time$|timestamp$/.test(format) || isTime.test(name)) {
    const isMs = type === 'number' || /[a-z]At$|Date$|_ms$/.test(name)
    return (start + row * hourMs) / (isMs ? 1 : 1000)
  }
  if (isId.test(name)) return 1_000 + row
  return type === 'number' ? (row % 50) + 0.5 : row % 50
}

function objectOf(fields: Record<string, Fields>, row: number, names: string[]): Record<string, unknown> {
  const { '*': any, ...given } = fields
  const value = Object.entries(given).map(([name, each]) => [name, valueOf(name, each, row)] as const)
  const more =
    any === undefined
      ? []
      : (names.length > 0 ? names : ['one', 'two']).map((name) => [name, valueOf(name, any, row)] as const)
  return Object.fromEntries([...value, ...more])
}
