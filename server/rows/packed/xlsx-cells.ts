/** The kind of number by the style of a cell. */
export type CellKind = 'number' | 'date' | 'time'

const dateIds = new Set(['14', '15', '16', '17', '22', '27', '30', '36', '50', '57'])
const timeIds = new Set(['18', '19', '20', '21', '45', '46', '47'])

export function dateFormats(id: string, custom: ReadonlyMap<string, string>): CellKind {
  if (dateIds.has(id)) return 'date'
  if (timeIds.has(id)) return 'time'
  // Colours, conditions, and words in quotes or behind a backslash say nothing about the value.
  const code = (custom.get(id) ?? '').replaceAll(/\[[^\]]*\]|"[^"]*"|\\./g, '').toLowerCase()
  if (/[yd]/.test(code) || /mmm/.test(code)) return 'date'
  return /[hs]/.test(code) ? 'time' : 'number'
}

type Given = { type: string; text: string; shared: string[]; kind: CellKind; is1904: boolean }

/** The value of a cell as JSON; null where it is empty. */
export function cellJson({ type, text, shared, kind, is1904 }: Given): string | null {
  if (type === 's') {
    const found = shared[Number(text)]
    return found === undefined || found === '' ? null : JSON.stringify(found)
  }
  if (text === '') return null
  if (type === 'b') return text === '1' || text === 'true' ? 'true' : 'false'
  // Texts of formulas, texts in place, days as ISO 8601, and what went wrong (#N/A).
  if (type !== 'n') return JSON.stringify(text)
  const number = Number(text)
  if (!Number.isFinite(number)) return JSON.stringify(text)
  const shown = kind === 'number' ? null : dateText(number, kind, is1904)
  return shown === null ? numberText(text, number) : JSON.stringify(shown)
}

/** Spreadsheets write 0.1 + 0.2 with all 17 digits; who typed it saw 15. */
function numberText(text: string, number: number): string {
  const digits = text
    .replace(/[eE].*$/, '')
    .replaceAll(/[-.]/g, '')
    .replace(/^0+/, '')
  if (digits.length > 15) return String(Number(number.toPrecision(15)))
  return /^-?(0|[1-9]\d*)(\.\d+)?$/.test(text) ? text : String(number)
}

const dayMs = 86_400_000
/** Day 0 of each way of counting. The first counts a 29 February 1900 that never was. */
const epochMs = { 1900: Date.UTC(1899, 11, 30), 1904: Date.UTC(1904, 0, 1) }

function dateText(serial: number, kind: CellKind, is1904: boolean): string | null {
  if (serial < 0 || serial >= 2_958_466) return null
  const day = !is1904 && serial > 0 && serial < 60 ? serial + 1 : serial
  const at = new Date(Math.round(((is1904 ? epochMs[1904] : epochMs[1900]) + day * dayMs) / 1000) * 1000).toISOString()
  if (kind === 'time' && serial < 1) return at.slice(11, 19)
  return Number.isInteger(serial) ? at.slice(0, 10) : at.slice(0, 19)
}
