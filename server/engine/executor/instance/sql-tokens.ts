export type Token = { kind: 'word' | 'quoted' | 'text' | 'slot' | 'number' | 'symbol'; text: string; start: number }

// Alternatives in the order the lexer tries them. Comments and blanks are matched so that nothing in them counts.
const lexicon =
  /(?<blank>\s+|--[^\n]*)|(?<comment>\/\*)|(?<dollar>\$(?:[A-Za-z_\u0080-\uFFFF][\w\u0080-\uFFFF]*)?\$)|(?<escaped>[eE]'(?:[^'\\]|\\[\s\S]|'')*')|(?<text>'(?:[^']|'')*')|(?<quoted>"(?:[^"]|"")*")|(?<slot>\$[A-Za-z0-9_\u0080-\uFFFF]+)|(?<word>[A-Za-z_\u0080-\uFFFF][\w$\u0080-\uFFFF]*)|(?<number>\d[\w.]*)|(?<symbol>[\s\S])/y

/** The tokens of `sql`, as DuckDB's own lexer cuts them; used to find slots and to point at words. */
export function tokenize(sql: string): Token[] {
  const tokens: Token[] = []
  let at = 0
  while (at < sql.length) {
    lexicon.lastIndex = at
    const groups = lexicon.exec(sql)?.groups
    if (groups === undefined) break
    const start = at
    at = lexicon.lastIndex
    const { comment, dollar, escaped, text, quoted, slot, word, number, symbol } = groups
    if (comment !== undefined) at = endOfComment(sql, at)
    else if (dollar !== undefined) {
      const close = sql.indexOf(dollar, at)
      at = close === -1 ? sql.length : close + dollar.length
      tokens.push({ kind: 'text', text: sql.slice(start, at), start })
    } else if (escaped !== undefined) tokens.push({ kind: 'text', text: escaped, start })
    else if (text !== undefined) tokens.push({ kind: 'text', text, start })
    else if (quoted !== undefined) tokens.push({ kind: 'quoted', text: quoted, start })
    else if (slot !== undefined) tokens.push({ kind: 'slot', text: slot, start })
    else if (word !== undefined) tokens.push({ kind: 'word', text: word, start })
    else if (number !== undefined) tokens.push({ kind: 'number', text: number, start })
    else if (symbol !== undefined) tokens.push({ kind: 'symbol', text: symbol, start })
  }
  return tokens
}

/** Block comments nest. */
function endOfComment(sql: string, from: number): number {
  const marks = /\/\*|\*\//g
  marks.lastIndex = from
  for (let depth = 1; depth > 0;) {
    const mark = marks.exec(sql)
    if (mark === null) return sql.length
    depth += mark[0] === '/*' ? 1 : -1
  }
  return marks.lastIndex
}
