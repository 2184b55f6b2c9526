import type { Shape } from './shape-tree.ts'

/** A decimal of so many digits comes back from a double as it was. */
export const doubleDigits = 15
/** Beyond every integer type; the digits of a longer one need not be worked out. */
const maxInteger = 60

/** Notes an integer of more digits than a double surely holds. */
export function largeInteger(shape: Shape, digits: string): void {
  const value = digits.length > maxInteger ? 10n ** BigInt(maxInteger) : BigInt(digits)
  const magnitude = value < 0n ? -value : value
  if (magnitude > shape.largest) shape.largest = magnitude
  if (magnitude > 9_007_199_254_740_992n && shape.doubleExact) shape.doubleExact = isDoubleExact(digits)
}

/** Notes a number with a point and more digits than a double surely holds. */
export function longDecimal(shape: Shape, source: string): void {
  if (shape.doubleExact) shape.doubleExact = isDoubleExact(source)
}

/** Notes a number with an exponent. */
export function powerOfTen(shape: Shape, source: string): void {
  const { intDigits, scale, significant } = measure(source)
  if (intDigits > shape.intDigits) shape.intDigits = intDigits
  if (scale > shape.scale) shape.scale = scale
  if (shape.doubleExact && (significant > doubleDigits || intDigits > 300 || scale > 300))
    shape.doubleExact = isDoubleExact(source)
}

/** Digits before and after the point once the exponent is worked in, and how many of them count. */
function measure(source: string): { intDigits: number; scale: number; significant: number } {
  const [mantissa = '', exponent = '0'] = splitExponent(source)
  const [whole = '', part = ''] = mantissa.split('.')
  const shift = Math.max(-9_999, Math.min(9_999, Number(exponent)))
  return {
    intDigits: Math.max(1, whole.length + shift),
    scale: Math.max(0, part.length - shift),
    significant: (whole + part).replace(/^0+/, '').length,
  }
}

function splitExponent(source: string): string[] {
  const [mantissa = '', exponent = '0'] = source.toLowerCase().split('e')
  return [mantissa.replace('-', ''), exponent]
}

/** Does the double nearest to `source` print the same number? */
function isDoubleExact(source: string): boolean {
  const value = Number(source)
  // Most numbers of many digits were printed from a double.
  if (String(value) === source) return true
  return Number.isFinite(value) && plainDigits(String(value)) === plainDigits(source)
}

function plainDigits(source: string): string {
  const [mantissa = '', exponent = '0'] = splitExponent(source)
  const [whole = '', part = ''] = mantissa.split('.')
  const digits = (whole + part).replace(/^0+/, '')
  const trimmed = withoutLastZeros(digits)
  const power = Number(exponent) - part.length + digits.length - trimmed.length
  return `${source.startsWith('-') && trimmed !== '' ? '-' : ''}${trimmed}e${trimmed === '' ? 0 : power}`
}

/** By hand: a pattern for the zeros at the end begins anew at each zero. */
export function withoutLastZeros(digits: string): string {
  let end = digits.length
  while (digits[end - 1] === '0') end -= 1
  return digits.slice(0, end)
}
