/** A number as it is, or as the text that one beyond JavaScript's own comes as. */
export function numberOf(value: unknown): number | null {
  if (typeof value === 'number') return Number.isFinite(value) ? value : null
  if (typeof value !== 'string' || !/^-?\d+(\.\d+)?$/.test(value)) return null
  return Number(value)
}

const moment = /^\d{4}-\d{2}-\d{2}([T ].*)?$/

/** A day or a moment, in milliseconds. */
export function timeOf(value: unknown): number | null {
  if (typeof value !== 'string' || !moment.test(value)) return null
  const time = Date.parse(value)
  return Number.isNaN(time) ? null : time
}

export function textOf(value: unknown): string {
  if (value === null || value === undefined) return '–'
  return typeof value === 'string' ? value : JSON.stringify(value)
}
