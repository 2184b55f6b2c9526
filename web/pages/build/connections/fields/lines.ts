/** Values as they are typed: texts, `name=value` one a line, and the numbers of lines. */

export function textOf(value: unknown): string {
  if (value === undefined || value === null) return ''
  return typeof value === 'string' ? value : JSON.stringify(value, null, 2)
}

export function isFields(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** `name=value`, one a line. */
export function linesOf(fields: Record<string, unknown>): string {
  return Object.entries(fields)
    .map(([name, value]) => `${name}=${textOf(value)}`)
    .join('\n')
}

export function fieldsOf(text: string, between: string | RegExp = /[\n&]/): Record<string, string> {
  const lines = text.split(between).filter((line) => line.trim() !== '')
  return Object.fromEntries(
    lines.map((line) => {
      const [name = '', ...rest] = line.split('=')
      return [name.trim(), rest.join('=').trim()]
    }),
  )
}

/** A stored body as it is typed: fields one a line, everything else as text. */
export function bodyText(body: Record<string, unknown>): string {
  const content = body['content'] ?? body
  const structured = body['type'] === 'form' || body['type'] === 'multipart'
  return structured && isFields(content) ? linesOf(content) : textOf(content)
}

let lastId = 0
/** Lines are told apart by a number of their own: their names are still being typed. */
export function newId(): number {
  lastId += 1
  return lastId
}
