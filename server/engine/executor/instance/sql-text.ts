/** Small facts about SQL as text: names, literals and slots. */

import { tokenize } from './sql-tokens.ts'

export function quoteName(name: string): string {
  return `"${name.replaceAll('"', '""')}"`
}

export function quoteText(text: string): string {
  return `'${text.replaceAll("'", "''")}'`
}

/** A name as the engine compares it: it folds ASCII letters and no others. */
export function foldName(name: string): string {
  return name.replaceAll(/[A-Z]+/g, (letters) => letters.toLowerCase())
}

/** `sql` without its closing semicolons, so that it can stand in parentheses. */
export function withoutSemicolon(sql: string): string {
  const last = tokenize(sql).findLast((token) => token.text !== ';')
  return last === undefined ? '' : sql.slice(0, last.start + last.text.length)
}

/** Each `$name` in `sql` becomes a cast of itself: only then are the result's types exact without executing. */
export function castSlots(sql: string, castOf: (name: string) => string): string {
  // No parentheses around it: `x IN $list` must not have them.
  return replaceSlots(sql, (name, text) => `CAST(${text} AS ${castOf(name)})`)
}

/** `sql` with something else in the place of each slot. */
export function replaceSlots(sql: string, replace: (name: string, text: string) => string): string {
  let out = ''
  let copied = 0
  for (const { kind, text, start } of tokenize(sql)) {
    if (kind !== 'slot') continue
    out += `${sql.slice(copied, start)}${replace(text.slice(1).toLowerCase(), text)}`
    copied = start + text.length
  }
  return out + sql.slice(copied)
}
