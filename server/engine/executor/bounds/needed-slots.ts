import { functionName, nodeIn, nodesIn, type Node } from '../instance/syntax-tree.ts'
import { formOf } from './forms.ts'
import { ctesOf, selectScope, type Scope } from './scopes.ts'

/**
 * Slots without which a statement finds nothing: whatever row its outermost WHERE looks at, a comparison with NULL keeps
 * it from being true, and nothing in it says what NULL means. What is less plain than that is not told.
 */
export function neededSlots(root: Node): Set<string> {
  if (root['type'] !== 'SELECT_NODE') return new Set()
  const scope = selectScope(root, { ctes: ctesOf(root, null), outer: null })
  const needed = neededBy(nodeIn(root['where_clause']), scope, false)
  const open = new Set(openSlots(root))
  return new Set(needed.filter((slot) => !open.has(slot)))
}

/** Slots whose NULL alone keeps a condition from being true, or under NOT from being false. */
function neededBy(node: Node | null, scope: Scope, isDenied: boolean): string[] {
  if (node === null) return []
  const children = nodesIn(node['children'])
  if (node['type'] === 'OPERATOR_NOT') return neededBy(children[0] ?? null, scope, !isDenied)
  if (node['class'] === 'CONJUNCTION') {
    const parts = children.map((child) => neededBy(child, scope, isDenied))
    return (node['type'] === 'CONJUNCTION_OR') === isDenied ? parts.flat() : inAll(parts)
  }
  const slots = (...sides: unknown[]): string[] => sides.flatMap((side) => slotOf(nodeIn(side), scope))
  if (node['class'] === 'BETWEEN') {
    const ends = [slots(node['input'], node['lower']), slots(node['input'], node['upper'])]
    return (node['type'] === 'COMPARE_NOT_BETWEEN') === isDenied ? ends.flat() : inAll(ends)
  }
  return node['class'] === 'COMPARISON' && strict.test(String(node['type'])) ? slots(node['left'], node['right']) : []
}

function inAll(parts: string[][]): string[] {
  const [first = [], ...others] = parts
  return first.filter((slot) => others.every((other) => other.includes(slot)))
}

const strict = /^COMPARE_(?:EQUAL|NOTEQUAL|LESSTHAN|GREATERTHAN|LESSTHANOREQUALTO|GREATERTHANOREQUALTO)$/

/** A slot by whatever name, cast or with something added to it: NULL stays NULL. */
function slotOf(node: Node | null, scope: Scope): string[] {
  const form = formOf(node, scope)
  return form.kind === 'slot' ? [form.slot] : []
}

function slotIn(node: Node): string {
  return String(node['identifier']).toLowerCase()
}

const open = /^(?:OPERATOR_(?:IS_NULL|IS_NOT_NULL|COALESCE)|COMPARE_(?:NOT_)?DISTINCT_FROM|CASE_EXPR)$/

/** Slots that stand anywhere where NULL has a meaning; a function may give it one. */
function openSlots(node: Node, isOpen = false): string[] {
  if (node['class'] === 'PARAMETER') return isOpen ? [slotIn(node)] : []
  const name = functionName(node)
  const takesNull = open.test(String(node['type'])) || (name !== '' && name !== '+' && name !== '-')
  return Object.values(node).flatMap((child) =>
    (Array.isArray(child) ? nodesIn(child) : [nodeIn(child) ?? []].flat()).flatMap((each) =>
      openSlots(each, isOpen || takesNull),
    ),
  )
}
