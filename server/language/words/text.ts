/** A word of a text as the router compares it: folded to plain lower-case letters and digits, with where it stood. */
export type Word = { text: string; stem: string; start: number; end: number }

// Marks join the letter before them: a decomposed "é" is one word with its neighbours.
const word = /[\p{L}\p{N}][\p{L}\p{N}\p{M}]*/gu
const plainWord = /^[a-z0-9]+$/

/** Lower case without diacritics or compatibility forms: "Ａcmé" and "acme" are the same value. */
export function fold(text: string): string {
  return text.normalize('NFKD').replaceAll(/\p{M}/gu, '').toLowerCase()
}

/** Runs of letters and digits. Placeholders such as `<customer name>` are not words here: cut them out before. */
export function words(text: string): Word[] {
  const found: Word[] = []
  for (const { 0: said, index: start } of text.matchAll(word)) {
    const folded = plainWord.test(said) ? said : fold(said)
    if (folded !== '') found.push({ text: folded, stem: stem(folded), start, end: start + said.length })
  }
  return found
}

/** Takes plural endings off, nothing more: enough to join "cities" with "city" and safe for names. */
export function stem(word: string): string {
  // "P0s", "737s"; the 1990s are no plural.
  if (/^(?:[a-z]{1,3}\d+|[1-9]\d\d)s$/.test(word)) return word.slice(0, -1)
  if (word.length <= 3 || !/^[a-z]+$/.test(word)) return word
  if (word.endsWith('ies') && word.length > 4) return `${word.slice(0, -3)}y`
  if (/(?:ss|us|is)$/.test(word)) return word
  if (/(?:xes|ches|shes|sses|zes)$/.test(word)) return word.slice(0, -2)
  return word.endsWith('s') ? word.slice(0, -1) : word
}

const minRoot = 4

/**
 * Beginning that words of one root share: "consent", "consented", "skippable" and "skip"; itself where so little is
 * left that it could be of any other.
 */
export function rootOf(word: string): string {
  const bare = stem(word).replace(/(?:able|ible|ing|ed|ly)$/u, '')
  const single = bare.replace(/([bdfgklmnprt])\1$/u, '$1').replace(/e$/u, '')
  return single.length < minRoot ? stem(word) : single
}

const functionWords = new Set(
  (
    'a an the of in on at to for from by with and or is are was were be been am do does did has have had i me my we us ' +
    'our you your it its he she they them their this that these those what which who whom whose when where why how ' +
    'can could will would should may might must shall as if than then so not no any some all each every there here ' +
    'please show list give tell find get display about into out over under between since until per s t m re ve ll d ' +
    'other another same both more most less least few many much only own such none first last next never just also yes'
  ).split(' '),
)

export function isFunctionWord(word: string): boolean {
  return functionWords.has(word)
}

/** With one space for each run of them; `place` says where a letter of it stands in the text itself. */
export function squeeze(text: string): { tight: string; place: (at: number) => number } {
  const runs = Array.from(text.matchAll(/\s{2,}/gu), ({ index, 0: run }) => ({ index, extra: run.length - 1 }))
  const place = (at: number): number =>
    runs.reduce((moved, { index, extra }) => (moved > index ? moved + extra : moved), at)
  return { tight: text.replaceAll(/\s{2,}/gu, ' '), place }
}
