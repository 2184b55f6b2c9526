import type { SlotComparison } from '../socket/protocol.ts'
import { functionName, nodeIn, nodesIn, type Node } from '../instance/syntax-tree.ts'
import { formOf, type ColumnForm, type Form, type SlotForm } from './forms.ts'
import { ctesOf, selectScope, type Scope } from './scopes.ts'
import { noShift, plus, times } from './amounts.ts'
import { editsOf, type WrittenComparison } from './edits.ts'
import { neededSlots } from './needed-slots.ts'

/**
 * How slots bound what a statement reads, told by its syntax tree: each comparison of a slot with something of a row.
 */
export function comparisonsOf(root: Node, sql: string): SlotComparison[] {
  const visit: Visit = { sql, found: [] }
  visitNode(root, visit, { scope: { sources: [], given: new Map(), ctes: null, outer: null }, isDenied: false })
  const needed = neededSlots(root)
  return unique(visit.found.map((each) => ({ ...each, isNeeded: needed.has(each.slot) })))
}

type Visit = { sql: string; found: SlotComparison[] }
type Surroundings = { scope: Scope; isDenied: boolean }

function unique(found: SlotComparison[]): SlotComparison[] {
  return [...new Map(found.map((each) => [JSON.stringify(each), each])).values()]
}

function visitNode(value: unknown, visit: Visit, place: Surroundings): void {
  if (Array.isArray(value)) {
    for (const each of value) visitNode(each, visit, place)
    return
  }
  const node = nodeIn(value)
  if (node === null) return
  if ('cte_map' in node) visitQuery(node, visit, place)
  else if (node['type'] === 'OPERATOR_NOT') visitNode(node['children'], visit, { ...place, isDenied: !place.isDenied })
  else if (node['class'] === 'CONJUNCTION') visitConjunction(node, visit, place)
  else {
    if (node['class'] === 'COMPARISON') noteComparison(node, visit, place)
    if (node['class'] === 'BETWEEN') noteBetween(node, visit, place)
    if (node['class'] === 'FUNCTION') noteSeries(node, visit, place)
    if (node['type'] === 'COMPARE_IN')
      for (const each of nodesIn(node['children'])) noteSame(formOf(each, place.scope), visit)
    // A comparison inside another expression is denied by nothing around that expression.
    visitChildren(node, visit, { ...place, isDenied: false })
  }
}

function visitChildren(node: Node, visit: Visit, place: Surroundings): void {
  for (const child of Object.values(node)) if (typeof child === 'object') visitNode(child, visit, place)
}

function visitQuery(node: Node, visit: Visit, { scope }: Surroundings): void {
  const ctes = ctesOf(node, scope.ctes)
  const isSelect = node['type'] === 'SELECT_NODE'
  const own = isSelect ? selectScope(node, { ctes, outer: scope }) : { ...scope, ctes }
  for (const [key, child] of Object.entries(node)) {
    if (typeof child !== 'object') continue
    // Those that are named before it know nothing of what it selects from.
    visitNode(child, visit, { scope: key === 'cte_map' ? { ...scope, ctes } : own, isDenied: false })
  }
}

/**
 * `$until IS NULL OR x < $until` bounds as `x < $until` does. `x < $from OR x > $to` is what lies outside: no range of
 * rows. Under NOT the two change places.
 */
function visitConjunction(node: Node, visit: Visit, place: Surroundings): void {
  const isEither = (node['type'] === 'CONJUNCTION_OR') !== place.isDenied
  const parts = nodesIn(node['children']).map((child) => {
    const inner: Visit = { sql: visit.sql, found: [] }
    visitNode(child, inner, place)
    return inner.found
  })
  const isOutside = isEither && parts.some((part, at) => parts.slice(at + 1).some((other) => areApart(part, other)))
  for (const each of parts.flat()) visit.found.push(isOutside ? { ...each, side: 'unread' } : each)
}

function areApart(...parts: [SlotComparison[], SlotComparison[]]): boolean {
  const [slots, others] = parts.map((part) => part.filter(({ side }) => side !== 'same').map(({ slot }) => slot))
  if (slots === undefined || others === undefined || slots.length === 0 || others.length === 0) return false
  return !slots.some((slot) => others.includes(slot))
}

type Operator = { side: 'start' | 'end'; isStrict: boolean }

/** The effect of an operator on its right side. */
const operators = new Map<unknown, Operator>([
  ['COMPARE_LESSTHAN', { side: 'end', isStrict: true }],
  ['COMPARE_LESSTHANOREQUALTO', { side: 'end', isStrict: false }],
  ['COMPARE_GREATERTHAN', { side: 'start', isStrict: true }],
  ['COMPARE_GREATERTHANOREQUALTO', { side: 'start', isStrict: false }],
])

const turned = { start: 'end', end: 'start' } as const

function denied({ side, isStrict }: Operator): Operator {
  return { side: turned[side], isStrict: !isStrict }
}

function noteComparison(node: Node, visit: Visit, { scope, isDenied }: Surroundings): void {
  const [left, right] = [formOf(nodeIn(node['left']), scope), formOf(nodeIn(node['right']), scope)]
  const read = operators.get(node['type'])
  if (read === undefined) {
    if (node['type'] === 'COMPARE_EQUAL') for (const form of [left, right]) noteSame(form, visit)
    return
  }
  const operator = isDenied ? denied(read) : read
  const place = { sql: visit.sql, node, part: 'comparison' } as const
  note(visit, { slot: right, row: left, operator, written: { ...place, slotIsLeft: false } })
  note(visit, {
    slot: left,
    row: right,
    operator: { ...operator, side: turned[operator.side] },
    written: { ...place, slotIsLeft: true },
  })
}

function noteBetween(node: Node, visit: Visit, { scope, isDenied }: Surroundings): void {
  const [row, lower, upper] = [node['input'], node['lower'], node['upper']].map((each) => formOf(nodeIn(each), scope))
  if (row === undefined || lower === undefined || upper === undefined) return
  const written = { sql: visit.sql, node, part: 'between', slotIsLeft: false } as const
  const before = visit.found.length
  note(visit, { slot: lower, row, operator: { side: 'start', isStrict: false }, written })
  note(visit, { slot: upper, row, operator: { side: 'end', isStrict: false }, written })
  // `$day between valid_from and valid_to`
  for (const side of [lower, upper]) if (row.kind === 'slot' && side.kind === 'column') noteSame(row, visit)
  // Outside of two bounds there is no range.
  if (isDenied) visit.found.splice(before, Infinity, ...visit.found.slice(before).map(unread))
}

function unread(comparison: SlotComparison): SlotComparison {
  return { ...comparison, side: 'unread', edits: null }
}

/** The days from one slot to another: `generate_series` has the last, `range` has not. */
function noteSeries(node: Node, visit: Visit, { scope }: Surroundings): void {
  const name = functionName(node)
  if (name !== 'generate_series' && name !== 'range' && name !== 'sequence') return
  const [start, end] = nodesIn(node['children']).map((each) => formOf(each, scope))
  const days: ColumnForm = {
    kind: 'column',
    column: { at: null, grain: 'day', unit: 'day', otherwise: null },
    shift: noShift,
  }
  const series = { row: days, written: null }
  if (start?.kind === 'slot') note(visit, { ...series, slot: start, operator: { side: 'start', isStrict: false } })
  if (end?.kind === 'slot') note(visit, { ...series, slot: end, operator: { side: 'end', isStrict: name === 'range' } })
}

function noteSame(form: Form, visit: Visit): void {
  if (form.kind === 'slot') visit.found.push(comparison(form, { side: 'same', isStrict: false }, null))
}

type Seen = { slot: Form; row: Form; operator: Operator; written: WrittenComparison | null }

function note(visit: Visit, { slot, row, operator, written }: Seen): void {
  if (slot.kind === 'slot' && row.kind === 'column') {
    const edits = written === null ? null : editsOf(written)
    visit.found.push({ ...comparison(slot, operator, row), edits })
    return
  }
  const isRow = row.kind === 'column' || (row.kind === 'unread' && row.hasColumn)
  const slots = slot.kind === 'unread' ? slot.slots : slot.kind === 'slot' && isRow ? [slot.slot] : []
  if (!isRow) return
  for (const name of slots) {
    visit.found.push(
      comparison(
        { kind: 'slot', slot: name, shift: noShift, unit: null, isMoment: false },
        { ...operator, side: 'unread' },
        null,
      ),
    )
  }
}

function comparison(
  { slot, shift, unit, isMoment }: SlotForm,
  { side, isStrict }: { side: SlotComparison['side']; isStrict: boolean },
  row: ColumnForm | null,
): SlotComparison {
  // `x - interval 1 day < $until` is `x < $until + interval 1 day`; less than a day is how an author's clocks differ.
  const moved = row === null ? shift : plus(shift, times({ ...row.shift, ms: 0 }, -1))
  return { slot, side, isStrict, shift: moved, unit, isMoment, row: row?.column ?? null, edits: null, isNeeded: false }
}
