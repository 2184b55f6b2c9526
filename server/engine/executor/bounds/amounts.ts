import type { Shift } from '../socket/protocol.ts'
import { castName, constantIn, functionName, nodeIn, nodesIn, type Node } from '../instance/syntax-tree.ts'

export const noShift: Shift = { months: 0, days: 0, ms: 0 }

const units: Record<string, Shift> = {
  microsecond: { ...noShift, ms: 0.001 },
  millisecond: { ...noShift, ms: 1 },
  second: { ...noShift, ms: 1_000 },
  minute: { ...noShift, ms: 60_000 },
  hour: { ...noShift, ms: 3_600_000 },
  day: { ...noShift, days: 1 },
  week: { ...noShift, days: 7 },
  month: { ...noShift, months: 1 },
  quarter: { ...noShift, months: 3 },
  year: { ...noShift, months: 12 },
}

/** `to_days(1)`, as the parser writes `interval 1 day`. */
const makers = new Map(Object.keys(units).map((unit) => [unit === 'century' ? 'to_centuries' : `to_${unit}s`, unit]))

/** An amount of time that is added to a day or a moment; null for what is none, or not known before the call. */
export function amountOf(node: Node): Shift | null {
  const name = functionName(node)
  const maker = makers.get(name)
  if (maker !== undefined) return inUnit(numberIn(nodesIn(node['children'])[0]), maker)
  if (name === '-' || name === '+') {
    const [first, second] = nodesIn(node['children']).map(amountOf)
    if (second === undefined) return first ? (name === '-' ? times(first, -1) : first) : null
    return first && second ? plus(first, name === '-' ? times(second, -1) : second) : null
  }
  if (name === '*') return product(nodesIn(node['children']))
  const value = constantIn(node)
  if (node['class'] === 'CAST' && typeof value === 'string') return writtenAmount(value, castName(node))
  // A number that is added to a date counts days.
  return typeof value === 'number' && node['class'] === 'CONSTANT' ? { ...noShift, days: value } : null
}

function product(children: Node[]): Shift | null {
  const [first, second] = children
  if (first === undefined || second === undefined) return null
  for (const [count, amount] of [
    [first, second],
    [second, first],
  ] as const) {
    const [number, unit] = [numberIn(count), amountOf(amount)]
    if (number !== null && unit !== null && amount['class'] !== 'CONSTANT') return times(unit, number)
  }
  return null
}

/** `to_days(CAST(trunc(CAST(1 AS DOUBLE)) AS INTEGER))` counts 1. */
function numberIn(node: Node | null | undefined): number | null {
  if (node === null || node === undefined) return null
  if (node['class'] === 'CAST') return numberIn(nodeIn(node['child']))
  const [child] = nodesIn(node['children'])
  if (functionName(node) === 'trunc') return numberIn(child)
  if (functionName(node) === '-') {
    const number = numberIn(child)
    return number === null || nodesIn(node['children']).length > 1 ? null : -number
  }
  const value = constantIn(node)
  const number = typeof value === 'string' && value.trim() !== '' ? Number(value) : value
  return typeof number === 'number' && Number.isFinite(number) ? number : null
}

/** `count` of a unit, as `date_add('day', 1, …)` names it too. */
export function inUnit(count: number | null, unit: string): Shift | null {
  const one = units[unit.toLowerCase().replace(/s$/, '')]
  return count === null || one === undefined ? null : times(one, count)
}

const clock = /^(-?)(\d{1,2}):(\d{2})(?::(\d{2}(?:\.\d+)?))?$/

/** `'1 day 02:00:00'::interval`, `time '23:59:59'`. */
function writtenAmount(text: string, type: string): Shift | null {
  if (type !== 'INTERVAL' && type !== 'TIME') return null
  const words = text.trim().toLowerCase().split(/\s+/)
  let sum = noShift
  for (let at = 0; at < words.length; at += 1) {
    const word = words[at] ?? ''
    const time = clockMs(word)
    const [, number, glued] = /^([+-]?\d+(?:\.\d+)?)([a-z]+)?$/.exec(word) ?? []
    const unit = glued ?? words[at + 1] ?? ''
    const amount = time !== null ? { ...noShift, ms: time } : number === undefined ? null : inUnit(Number(number), unit)
    if (amount === null) return null
    sum = plus(sum, amount)
    if (time === null && glued === undefined) at += 1
  }
  return sum
}

/** Milliseconds since midnight of a time that is written out. */
export function clockMs(text: string): number | null {
  const [, sign, hours, minutes, seconds = '0'] = clock.exec(text) ?? []
  if (hours === undefined) return null
  const ms = (Number(hours) * 3_600 + Number(minutes) * 60 + Number(seconds)) * 1_000
  return sign === '-' ? -ms : ms
}

export function plus(one: Shift, other: Shift): Shift {
  return { months: one.months + other.months, days: one.days + other.days, ms: one.ms + other.ms }
}

export function times({ months, days, ms }: Shift, factor: number): Shift {
  return { months: months * factor, days: days * factor, ms: ms * factor }
}
