import { foldName } from './sql-text.ts'

/** A node of the syntax tree as `json_serialize_sql` writes it, or of a plan. */
export type Node = { [key: string]: unknown }

/** Every node of a tree in the order of the text, those around others first. No tree is too deep for it. */
export function* everyNode(tree: unknown): Generator<Node> {
  const waiting = [tree]
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    if (typeof next !== 'object' || next === null) continue
    if (!Array.isArray(next)) yield next as Node
    for (const child of Object.values(next).toReversed()) if (typeof child === 'object') waiting.push(child)
  }
}

export function nodeIn(value: unknown): Node | null {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Node) : null
}

export function nodesIn(value: unknown): Node[] {
  return Array.isArray(value) ? value.flatMap((each): Node[] => (nodeIn(each) === null ? [] : [each as Node])) : []
}

export function foldedNames(value: unknown): string[] {
  return Array.isArray(value) ? value.map((each) => foldName(String(each))) : []
}

export function functionName(node: Node): string {
  return node['class'] === 'FUNCTION' || node['class'] === 'WINDOW' ? foldName(String(node['function_name'])) : ''
}

export function textIn(value: unknown): string {
  return typeof value === 'string' ? value : ''
}

/** The type of a cast by its first words: `TIMESTAMP(6) WITH TIME ZONE` is a `TIMESTAMP WITH TIME ZONE`. */
export function castName(node: Node): string {
  const type = nodeIn(node['cast_type'])
  const info = nodeIn(type?.['type_info'])
  const name = type?.['id'] === 'UNBOUND' ? info?.['name'] : type?.['id']
  return textIn(name).toUpperCase()
}

/** The value of a constant, whatever it is cast to. */
export function constantIn(node: Node | null | undefined): unknown {
  if (node?.['class'] === 'CAST') return constantIn(nodeIn(node['child']))
  if (node?.['class'] !== 'CONSTANT') return undefined
  const held = nodeIn(node['value'])
  return held?.['is_null'] === true ? undefined : decimalIn(held)
}

/** The engine writes 1.5 as 15 with a scale of 1. */
function decimalIn(held: Node | null): unknown {
  const value = held?.['value']
  const scale = nodeIn(nodeIn(held?.['type'])?.['type_info'])?.['scale']
  return typeof value === 'number' && typeof scale === 'number' ? value / 10 ** scale : value
}
