/** Lexeme of a statement in Trino's dialect: a word with its position, in order. */
export type Lexeme = { kind: 'word' | 'quoted' | 'text' | 'slot' | 'number' | 'symbol'; text: string; start: number }

// Alternatives in the order in which the grammar tries them. Comments and blanks are matched so that nothing in them counts.
const lexicon =
  /(?<blank>\s+|--[^\r\n]*|\/\*[\s\S]*?\*\/)|(?<text>'(?:[^']|'')*')|(?<quoted>"(?:[^"]|"")*"|`(?:[^`]|``)*`)|(?<slot>\$[A-Za-z0-9_]*)|(?<word>[A-Za-z_][\w@:]*)|(?<number>\d[\w.]*)|(?<symbol>[\s\S])/y

export function lex(sql: string): Lexeme[] {
  const tokens: Lexeme[] = []
  lexicon.lastIndex = 0
  for (let found = lexicon.exec(sql); found !== null; found = lexicon.exec(sql)) {
    const [kind, text] = Object.entries(found.groups ?? {}).find(([, value]) => value !== undefined) ?? []
    if (kind === undefined || kind === 'blank') continue
    tokens.push({ kind: kind as Lexeme['kind'], text: text ?? '', start: found.index })
    if (lexicon.lastIndex === sql.length) break
  }
  return tokens
}

/** A name as Trino compares it; undefined for what is none. */
export function nameIn({ kind, text }: Lexeme): string | undefined {
  if (kind === 'word') return text.toLowerCase()
  return kind === 'quoted' ? text.slice(1, -1).replaceAll('""', '"').toLowerCase() : undefined
}
