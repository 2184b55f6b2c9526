import { charOffset } from '../instance/sql-failure.ts'
import { tokenize, type Token } from '../instance/sql-tokens.ts'
import type { TextEdit } from '../socket/protocol.ts'
import { nodeIn, type Node } from '../instance/syntax-tree.ts'

/** Where a comparison stands in the text of its statement. */
export type WrittenComparison = { sql: string; node: Node; part: 'comparison' | 'between'; slotIsLeft: boolean }

const aDay = " + interval '1' day"

/**
 * Changes of the text by which a comparison heeds whole days: with `strict` the operator takes the other of `<` and
 * `<=`, `>` and `>=`, and with `day` a day is added to the slot's side. Null where the text is not as expected.
 */
export function editsOf({
  sql,
  node,
  part,
  slotIsLeft,
}: WrittenComparison): { strict: TextEdit[]; day: TextEdit[] } | null {
  const location = node['query_location']
  if (typeof location !== 'number' || location >= sql.length * 4) return null
  const offset = charOffset(sql, location)
  const tokens = tokenize(sql)
  const at = tokens.findIndex(({ start }) => start === offset)
  if (at < 0) return null
  return part === 'between' ? betweenEdits(node, tokens, at) : operatorEdits(tokens, at, slotIsLeft)
}

type Edits = { strict: TextEdit[]; day: TextEdit[] }

function operatorEdits(tokens: Token[], at: number, slotIsLeft: boolean): Edits | null {
  const [first, second] = [tokens[at], tokens[at + 1]]
  if (first === undefined || (first.text !== '<' && first.text !== '>')) return null
  const hasEquals = second?.text === '=' && second.start === first.start + 1
  const end = first.start + (hasEquals ? 2 : 1)
  const strict = [{ start: first.start, end, text: hasEquals ? first.text : `${first.text}=` }]
  const behind = slotIsLeft ? endOf(tokens[at - 1]) : endOf(tokens[lastOfOperand(tokens, at + (hasEquals ? 2 : 1))])
  if (behind === null) return null
  return { strict, day: [{ start: behind, end: behind, text: aDay }] }
}

/** `x BETWEEN a AND b` becomes `(x >= a AND x < b)`, where `x` is a column. */
function betweenEdits(node: Node, tokens: Token[], at: number): Edits | null {
  const input = nodeIn(node['input'])
  const names = input?.['column_names']
  if (!Array.isArray(names) || tokens[at]?.text.toLowerCase() !== 'between') return null
  const isDenied = tokens[at - 1]?.text.toLowerCase() === 'not'
  const from = at - (isDenied ? 1 : 0) - (2 * names.length - 1)
  const [first, last] = [tokens[from], tokens[at - 1]]
  const and = middleOf(tokens, at + 1)
  const behind = and === null ? null : endOf(tokens[lastOfOperand(tokens, and + 1)])
  const word = tokens[at]
  const joint = tokens[and ?? -1]
  if (isDenied || !first || !last || !word || !joint || behind === null) return null
  const column = tokens
    .slice(from, at)
    .map(({ text }) => text)
    .join('')
  const andEnd = joint.start + joint.text.length
  return {
    strict: [
      { start: first.start, end: first.start, text: '(' },
      { start: word.start, end: word.start + word.text.length, text: '>=' },
      { start: andEnd, end: andEnd, text: ` ${column} <` },
      { start: behind, end: behind, text: ')' },
    ],
    day: [{ start: behind, end: behind, text: aDay }],
  }
}

/** The AND that parts the two bounds. */
function middleOf(tokens: Token[], from: number): number | null {
  let depth = 0
  for (let at = from; at < tokens.length; at += 1) {
    const text = tokens[at]?.text.toLowerCase() ?? ''
    if (text === '(' || text === '[') depth += 1
    if (text === ')' || text === ']') depth -= 1
    if (depth < 0) return null
    if (depth === 0 && text === 'and') return at
  }
  return null
}

/** Words behind which nothing belongs to an operand any more. */
const ends = new Set(
  'and or is then else end when group order having qualify limit offset fetch window union except intersect where on using join left right inner full cross natural asof as filter from not in like ilike between asc desc nulls'.split(
    ' ',
  ),
)

/** The last token of the operand that begins at `from`. */
function lastOfOperand(tokens: Token[], from: number): number {
  let depth = 0
  for (let at = from; at < tokens.length; at += 1) {
    const { kind, text } = tokens[at] ?? { kind: 'symbol', text: ';' }
    if (text === '(' || text === '[') depth += 1
    else if ((text === ')' || text === ']') && depth === 0) return at - 1
    else if (text === ')' || text === ']') depth -= 1
    else if (depth === 0 && kind === 'word' && ends.has(text.toLowerCase())) return at - 1
    else if (depth === 0 && kind === 'symbol' && /^[,;<>=!]$/.test(text)) return at - 1
  }
  return tokens.length - 1
}

function endOf(token: Token | undefined): number | null {
  return token === undefined ? null : token.start + token.text.length
}
