type Names = { has(name: string): boolean }

/** The names that a text holds as words, in any spelling. The text is read once, however many names there are. */
export function knownWords(text: string, names: Names): string[] {
  const found = new Set<string>()
  for (const [word] of text.matchAll(/\w+/g)) {
    const name = word.toLowerCase()
    if (names.has(name)) found.add(name)
  }
  return [...found]
}

/** Words and parentheses; texts in quotes and comments, which may have no end, are passed over. */
const parts = /'[^']*(?:'|$)|--[^\n]*|\/\*[\s\S]*?(?:\*\/|$)|\w+|[()]/g

/**
 * The same of SQL, without names that it gives to parts of its own: `with orders as (select * from stg_orders)` reads no
 * table `orders`, and `with orders as (select * from orders)` does.
 */
export function tablesIn(sql: string, names: Names): string[] {
  const found = new Set<string>()
  /** Parts that are named, by how deep; those whose own text has not ended still read a table of their name. */
  const named: Array<{ name: string; depth: number; isOpen: boolean }> = []
  const known = new Map<string, number>()
  let [depth, last, isAs]: [number, string | null, boolean] = [0, null, false]
  const read = (): void => {
    if (last !== null && !known.has(last)) found.add(last)
    last = null
  }
  for (const [part] of sql.matchAll(parts)) {
    if (!/^[\w()]/.test(part)) continue
    const word = part.toLowerCase()
    if (word === '(') {
      if (last !== null && isAs) {
        named.push({ name: last, depth, isOpen: true })
        last = null
      } else read()
      depth += 1
    } else if (word === ')') {
      read()
      depth -= 1
      for (let top = named.at(-1); top !== undefined && top.depth > depth; top = named.at(-1)) {
        named.pop()
        if (!top.isOpen) forget(known, top.name)
      }
      const top = named.at(-1)
      if (top?.isOpen === true && top.depth === depth) {
        top.isOpen = false
        known.set(top.name, (known.get(top.name) ?? 0) + 1)
      }
    } else {
      if (last !== null && (word === 'as' || (isAs && (word === 'not' || word === 'materialized')))) {
        isAs = true
        continue
      }
      read()
      last = names.has(word) ? word : null
    }
    isAs = false
  }
  read()
  return [...found]
}

function forget(known: Map<string, number>, name: string): void {
  const left = (known.get(name) ?? 1) - 1
  if (left === 0) known.delete(name)
  else known.set(name, left)
}
