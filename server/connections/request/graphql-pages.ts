/** A token of a GraphQL document: a name, a sign, or anything else that stands for a value. */
type Token = { text: string; start: number; end: number; isName: boolean }

type Field = {
  /** Its key in the answer: the alias, or else the name. */
  key: string
  nameEnd: number
  /** Tokens of its arguments, without the parentheses. */
  args: { tokens: Token[]; end: number } | null
  selection: Selection | null
}
type Selection = { fields: Field[]; end: number }

/** Longer ones are not rewritten. */
const maxChars = 65_536
const maxDepth = 50

const token = /"""[^]*?"""|"(?:[^"\\\n]|\\.)*"|#[^\n]*|\.\.\.|[_A-Za-z]\w*|-?\d[\w.+-]*|[!$&():=@[\]{|}]/g

/**
 * A query that asks for its pages as Relay does: the list at this path gets `after`, and says beside its rows where the
 * next page begins. Null where it cannot be written so. `variable` is the name of the cursor's variable.
 */
export function withPages(query: string, path: string[], type = 'String'): { query: string; variable: string } | null {
  if (query.length > maxChars) return null
  const tokens: Token[] = [...query.matchAll(token)]
    .filter(([text]) => !text.startsWith('#'))
    .map(({ 0: text, index }) => ({ text, start: index, end: index + text.length, isName: /^[_A-Za-z]/.test(text) }))
  const head = operationOf(tokens)
  if (head === null) return null
  const root = selectionAt(tokens, head.open, 0)
  const field = root === null ? undefined : found(root, path)
  const { args = null, selection = null } = field ?? {}
  if (field === undefined || selection === null) return null
  const names = args === null ? [] : args.tokens.filter(({ isName }, at) => isName && args.tokens[at + 1]?.text === ':')
  if (names.some(({ text }) => text === 'after' || text === 'last' || text === 'before')) return null
  const variable = query.includes('$after') ? 'afterCursor' : 'after'
  const info = selection.fields.find(({ key }) => key === 'pageInfo')
  const asked = info?.selection?.fields.map(({ key }) => key) ?? []
  const missing = ['hasNextPage', 'endCursor'].filter((name) => !asked.includes(name)).join(' ')
  const argument = `after: $${variable}`
  const edits: Array<[at: number, text: string]> = [
    args === null ? [field.nameEnd, `(${argument})`] : [args.end, `${args.tokens.length > 0 ? ', ' : ''}${argument}`],
    info?.selection === undefined || info.selection === null
      ? [selection.end, ` pageInfo { ${missing} } `]
      : [info.selection.end, ` ${missing} `],
    declared(head, `$${variable}: ${type}`),
  ]
  const text = edits
    .toSorted(([left], [right]) => right - left)
    .reduce((whole, [at, added]) => whole.slice(0, at) + added + whole.slice(at), query)
  return { query: text, variable }
}

type Head = { open: number; start: number; nameEnd: number | null; variables: number | null; isEmpty: boolean }

/** The only operation of a document; null where there are several, or it is no query. */
function operationOf(tokens: Token[]): Head | null {
  const [first] = tokens
  if (first === undefined) return null
  if (first.text === '{') return { open: 0, start: first.start, nameEnd: null, variables: null, isEmpty: true }
  if (first.text !== 'query') return null
  const open = tokens.findIndex(({ text }) => text === '{')
  const named = tokens[1]?.isName === true ? tokens[1] : first
  const close = tokens.findIndex(({ text }, at) => text === ')' && at < open)
  const opens = tokens.findIndex(({ text }, at) => text === '(' && at < open)
  // A default that is an object opens braces of its own.
  if (open === -1 || (opens !== -1 && close === -1)) return null
  const variables = opens === -1 ? null : (tokens[close]?.start ?? null)
  return { open, start: first.start, nameEnd: named.end, variables, isEmpty: close === opens + 1 }
}

function declared({ start, nameEnd, variables, isEmpty }: Head, variable: string): [number, string] {
  if (nameEnd === null) return [start, `query (${variable}) `]
  return variables === null ? [nameEnd, `(${variable})`] : [variables, `${isEmpty ? '' : ', '}${variable}`]
}

/** The selection that opens at a token; fields of inline fragments belong to it. */
function selectionAt(tokens: Token[], open: number, depth: number): (Selection & { next: number }) | null {
  if (depth > maxDepth) return null
  const fields: Field[] = []
  let at = open + 1
  for (;;) {
    const here = tokens[at]
    if (here === undefined) return null
    if (here.text === '}') return { fields, end: here.start, next: at + 1 }
    if (here.text === '...') {
      const after = tokens[at + 1]
      if (after?.isName === true && after.text !== 'on') {
        at = behindDirectives(tokens, at + 2)
        continue
      }
      const brace = behindDirectives(tokens, after?.text === 'on' ? at + 3 : at + 1)
      if (tokens[brace]?.text !== '{') return null
      const inside = selectionAt(tokens, brace, depth + 1)
      if (inside === null) return null
      fields.push(...inside.fields)
      at = inside.next
      continue
    }
    if (!here.isName) return null
    const field = fieldAt(tokens, at, depth)
    if (field === null) return null
    fields.push(field)
    at = field.next
  }
}

function fieldAt(tokens: Token[], from: number, depth: number): (Field & { next: number }) | null {
  const first = tokens[from]
  const isAlias = tokens[from + 1]?.text === ':'
  const name = isAlias ? tokens[from + 2] : first
  if (first === undefined || name === undefined) return null
  let at = from + (isAlias ? 3 : 1)
  let args: Field['args'] = null
  if (tokens[at]?.text === '(') {
    const close = closing(tokens, at)
    const end = tokens[close]
    if (end === undefined) return null
    args = { tokens: tokens.slice(at + 1, close), end: end.start }
    at = close + 1
  }
  at = behindDirectives(tokens, at)
  const selection = tokens[at]?.text === '{' ? selectionAt(tokens, at, depth + 1) : null
  if (tokens[at]?.text === '{' && selection === null) return null
  return { key: first.text, nameEnd: name.end, args, selection, next: selection?.next ?? at }
}

function behindDirectives(tokens: Token[], from: number): number {
  let at = from
  while (tokens[at]?.text === '@') at = tokens[at + 2]?.text === '(' ? closing(tokens, at + 2) + 1 : at + 2
  return at
}

function closing(tokens: Token[], open: number): number {
  let depth = 0
  for (let at = open; at < tokens.length; at += 1) {
    if (tokens[at]?.text === '(') depth += 1
    if (tokens[at]?.text === ')') depth -= 1
    if (depth === 0) return at
  }
  return tokens.length
}

function found(selection: Selection, [key, ...rest]: string[]): Field | undefined {
  const field = selection.fields.find((each) => each.key === key)
  if (field === undefined || rest.length === 0) return field
  return field.selection === null ? undefined : found(field.selection, rest)
}
