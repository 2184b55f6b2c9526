import type { CalendarUnit, ComparedColumn, Shift } from '../socket/protocol.ts'
import { amountOf, clockMs, inUnit, noShift, plus, times } from './amounts.ts'
import {
  castName,
  constantIn,
  everyNode,
  functionName,
  foldedNames,
  nodeIn,
  nodesIn,
  textIn,
  type Node,
} from '../instance/syntax-tree.ts'
import { findColumn, scalarOf, type Scope } from './scopes.ts'

/** A side of a comparison: a slot with what is added to it, something of a row, or neither. */
export type Form =
  | { kind: 'constant' }
  | SlotForm
  | ColumnForm
  /** It holds slots, and it is not understood what it makes of them. */
  | { kind: 'unread'; slots: string[]; hasColumn: boolean }

/** `unit`: cut to its beginning. `isMoment`: made a moment, so that text is compared as one. */
export type SlotForm = { kind: 'slot'; slot: string; shift: Shift; unit: CalendarUnit | null; isMoment: boolean }
export type ColumnForm = { kind: 'column'; column: ComparedColumn; shift: Shift }

const constant: Form = { kind: 'constant' }
const maxDepth = 64

/** Reads one side of a comparison. Whatever it does not know makes it unread, never wrong. */
export function formOf(node: Node | null, scope: Scope, depth = 0): Form {
  if (node === null) return constant
  if (depth > maxDepth) return { kind: 'unread', slots: [], hasColumn: true }
  const read = (child: unknown, from = scope): Form => formOf(nodeIn(child), from, depth + 1)
  switch (node['class']) {
    case 'CONSTANT':
      return constant
    case 'PARAMETER':
      return slotForm(String(node['identifier']).toLowerCase())
    case 'CAST':
      return castForm(read(node['child']), castName(node))
    case 'COLUMN_REF':
      return columnForm(foldedNames(node['column_names']), scope, depth)
    case 'SUBQUERY': {
      const inner = scalarOf(node, scope)
      return inner === null ? mixed(node, []) : formOf(inner.node, inner.scope, depth + 1)
    }
    case 'CASE': {
      const branches = nodesIn(node['case_checks']).map((check) => read(check['then_expr']))
      return oneOf(node, [...branches, read(node['else_expr'])])
    }
    case 'OPERATOR':
      if (node['type'] !== 'OPERATOR_COALESCE')
        return mixed(
          node,
          nodesIn(node['children']).map((each) => read(each)),
        )
      return firstOf(
        node,
        nodesIn(node['children']).map((each) => read(each)),
      )
    case 'COLLATE':
      return read(node['child'])
    case 'FUNCTION':
    case 'WINDOW':
      return callForm(
        node,
        nodesIn(node['children']).map((each) => read(each)),
      )
    default:
      return mixed(node, [])
  }
}

function slotForm(slot: string): SlotForm {
  return { kind: 'slot', slot, shift: noShift, unit: null, isMoment: false }
}

function known(grain: ComparedColumn['grain'], unit: CalendarUnit | null = null): ComparedColumn {
  return { at: null, grain, unit, otherwise: null }
}

function columnForm(names: string[], scope: Scope, depth: number): Form {
  const found = findColumn(names, scope)
  if (found.kind === 'expression') return formOf(found.node, found.scope, depth + 1)
  // `current_date` is written like a column.
  if (found.kind === 'opaque') {
    if (names.length === 1 && /^(?:current_|local)(?:date|time|timestamp)$/.test(names[0] ?? '')) return constant
    return { kind: 'column', column: known('unknown'), shift: noShift }
  }
  if (/^(?:current_|local)(?:date|time|timestamp)$/.test(found.column)) return constant
  const other = found.given === null ? null : formOf(found.given.node, found.given.scope, depth + 1)
  const { tables, column } = found
  const otherwise = other?.kind === 'column' ? other.column : null
  return { kind: 'column', column: { at: { tables, column }, grain: 'typed', unit: null, otherwise }, shift: noShift }
}

function castForm(form: Form, type: string): Form {
  if (type === 'DATE') return cutTo(form, 'day')
  if (!/^(?:TIMESTAMP|DATETIME)/.test(type)) return form
  if (form.kind === 'slot') return { ...form, isMoment: true }
  if (form.kind !== 'column') return form
  return { ...form, column: asMoment(form.column) }
}

/** Text that is cast is a moment; a date that is cast stays its midnight. */
function asMoment(column: ComparedColumn): ComparedColumn {
  const grain = column.grain === 'typed' ? 'cast' : column.grain
  return { ...column, grain, otherwise: column.otherwise && asMoment(column.otherwise) }
}

/** The day, month or year that something lies in. */
function cutTo(form: Form, unit: CalendarUnit): Form {
  // Time added before it is cut ends within the same day.
  if (form.kind === 'slot') return { ...form, unit, shift: { ...form.shift, ms: 0 } }
  if (form.kind === 'column') return { ...form, column: known('day', unit), shift: { ...form.shift, ms: 0 } }
  return form
}

const calendarUnits = new Set<string>(['day', 'week', 'month', 'quarter', 'year'])
const isUnit = (name: string): name is CalendarUnit => calendarUnits.has(name)

/** Functions that give one of their arguments, or nearly: the same day, seen by other clocks. */
const seenThrough = new Set(
  'nullif timezone at_timezone with_timezone min max first last any_value arbitrary arg_min arg_max lag lead first_value last_value strip_time_zone'.split(
    ' ',
  ),
)
/** Functions that make a moment of text or of a number. */
const makesMoment = new Set(
  'strptime try_strptime to_timestamp epoch_ms make_timestamp from_unixtime from_iso8601_timestamp parse_datetime date_parse'.split(
    ' ',
  ),
)
const makesDay = new Set(['date', 'to_date', 'from_iso8601_date', 'make_date', 'last_day', 'last_day_of_month'])

function callForm(node: Node, forms: Form[]): Form {
  const name = functionName(node)
  const children = nodesIn(node['children'])
  if ((name === '+' || name === '-') && children.length === 2) return sumForm(node, name, forms)
  if (name === 'date_trunc' || name === 'datetrunc' || name === 'time_bucket') return truncated(node, children, forms)
  if (name === 'date_add' || name === 'dateadd') return added(node, children, forms)
  if (name === 'ifnull' || name === 'coalesce') return firstOf(node, forms)
  if (name === 'least' || name === 'greatest') return oneOf(node, forms)
  if (name === 'strftime' || name === 'date_format' || name === 'format_datetime') return written(node, children, forms)
  if (name === '||' || name === 'concat') return joined(node, children, forms)
  if (name === 'year') return cutTo(forms[0] ?? constant, 'year')
  const own = forms.find(({ kind }) => kind !== 'constant')
  if (own === undefined) return constant
  if (seenThrough.has(name) && forms.filter(({ kind }) => kind !== 'constant').length === 1) return own
  if (name === 'date' || name === 'to_date') return cutTo(own, 'day')
  if (makesDay.has(name) && own.kind === 'column') return { ...own, column: known('day', 'day') }
  if (makesMoment.has(name) && own.kind === 'column') return { ...own, column: known('moment') }
  return mixed(node, forms)
}

/** `$until + interval 1 day`, `started_at - interval 1 day`. */
function sumForm(node: Node, sign: '+' | '-', forms: Form[]): Form {
  const [left, right] = nodesIn(node['children'])
  const [first, second] = forms
  if (left === undefined || right === undefined || first === undefined || second === undefined)
    return mixed(node, forms)
  const isTurned = first.kind === 'constant' && sign === '+'
  const [own, amount] = isTurned ? [second, amountOf(left)] : [first, amountOf(right)]
  if (own.kind === 'constant' && amount !== null) return constant
  if (amount === null) return mixed(node, forms)
  return shifted(own, sign === '-' ? times(amount, -1) : amount, isDays(isTurned ? left : right))
}

/** A number of days keeps a date a date; an interval makes a moment of it. */
function isDays(amount: Node): boolean {
  return amount['class'] === 'CONSTANT'
}

function shifted(form: Form, amount: Shift, keepsDate: boolean): Form {
  if (form.kind === 'slot') {
    return { ...form, shift: plus(form.shift, amount), isMoment: form.isMoment || !keepsDate }
  }
  return form.kind === 'column' ? { ...form, shift: plus(form.shift, amount) } : form
}

/** `date_add(x, interval 1 day)` of DuckDB and `date_add('day', 1, x)` of Trino. */
function added(node: Node, children: Node[], forms: Form[]): Form {
  const [first, second, third] = children
  if (third === undefined) {
    const amount = second === undefined ? null : amountOf(second)
    return amount === null || forms[0] === undefined ? mixed(node, forms) : shifted(forms[0], amount, false)
  }
  const [unit, counted] = [constantIn(first), second === undefined ? null : amountOf(second)]
  const amount = typeof unit === 'string' && counted !== null ? inUnit(counted.days, unit) : null
  return amount === null || forms[2] === undefined ? mixed(node, forms) : shifted(forms[2], amount, unit === 'day')
}

function truncated(node: Node, [part]: Node[], forms: Form[]): Form {
  const unit = functionName(node) === 'time_bucket' ? bucketUnit(part) : textIn(constantIn(part)).toLowerCase()
  const own = forms[1] ?? constant
  if (isUnit(unit)) return cutTo(own, unit)
  // An hour or less moves no bound of a day.
  return /^(?:hour|minute|second|millisecond|microsecond)s?$/.test(unit) ? own : mixed(node, forms)
}

function bucketUnit(part: Node | undefined): string {
  const width = part === undefined ? null : amountOf(part)
  if (width === null || width.ms !== 0) return width?.days === 0 && width.months === 0 ? 'hour' : ''
  if (width.months === 0) return width.days === 1 ? 'day' : width.days === 7 ? 'week' : ''
  return { 1: 'month', 3: 'quarter', 12: 'year' }[width.months] ?? ''
}

const formats: Record<string, CalendarUnit> = { '%Y-%m-%d': 'day', '%Y%m%d': 'day', '%F': 'day', '%Y-%m': 'month' }
const javaFormats: Record<string, CalendarUnit> = { 'yyyy-MM-dd': 'day', 'yyyy-MM': 'month', yyyy: 'year' }

/** A day that is written out so that texts are in the order of the days. */
function written(node: Node, children: Node[], forms: Form[]): Form {
  const format = children.map(constantIn).find((each) => typeof each === 'string')
  const unit =
    typeof format === 'string'
      ? (formats[format] ?? javaFormats[format] ?? (format === '%Y' ? 'year' : undefined))
      : undefined
  const own = forms.find(({ kind }) => kind !== 'constant')
  return unit === undefined || own === undefined ? mixed(node, forms) : cutTo(own, unit)
}

/** `$until || ' 23:59:59'` is an hour of that day. */
function joined(node: Node, [, second]: Node[], forms: Form[]): Form {
  const [own] = forms
  const text = constantIn(second)
  const ms = typeof text === 'string' ? clockMs(text.replace(/^[T ]/, '').replace(/Z$/, '')) : null
  if (own?.kind !== 'slot' || ms === null || forms.length !== 2) return mixed(node, forms)
  return { ...own, isMoment: true, shift: plus(own.shift, { ...noShift, ms }) }
}

/** The first that is there: `coalesce($until, current_date)`. */
function firstOf(node: Node, forms: Form[]): Form {
  const [first] = forms
  return first?.kind === 'slot' ? first : oneOf(node, forms)
}

/** One of several that mean the same bound, beside what is the same for every row. */
function oneOf(node: Node, forms: Form[]): Form {
  const own = forms.filter(({ kind }) => kind !== 'constant')
  const [first, ...others] = own
  if (first === undefined) return constant
  if (first.kind === 'column' && others.every(({ kind }) => kind === 'column')) return first
  return others.every((each) => JSON.stringify(each) === JSON.stringify(first)) ? first : mixed(node, forms)
}

/** Something that is made of slots or of columns in a way that is not known. */
function mixed(node: Node, forms: Form[]): Form {
  const slots = new Set(slotsIn(node))
  for (const form of forms) {
    if (form.kind === 'slot') slots.add(form.slot)
    if (form.kind === 'unread') for (const slot of form.slots) slots.add(slot)
  }
  const hasColumn = forms.some((form) => form.kind === 'column' || (form.kind === 'unread' && form.hasColumn))
  if (slots.size > 0) return { kind: 'unread', slots: [...slots], hasColumn }
  return hasColumn || hasColumnIn(node) ? { kind: 'column', column: known('unknown'), shift: noShift } : constant
}

function slotsIn(node: Node): string[] {
  const slots = Array.from(everyNode(node)).filter((each) => each['class'] === 'PARAMETER')
  return slots.map((slot) => String(slot['identifier']).toLowerCase())
}

function hasColumnIn(node: Node): boolean {
  return everyNode(node).some((each) => each['class'] === 'COLUMN_REF')
}
