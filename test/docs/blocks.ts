import { readFileSync } from 'node:fs'
import { join } from 'node:path'

export const root = join(import.meta.dirname, '../..')

/**
 * A fenced block of a page. Behind its language may stand what it is: `answer` (what the command before it prints),
 * `file=…` (a file that later commands find), or the name of a check in `test/docs/snippets.test.ts`.
 */
export type Block = { page: string; line: number; language: string; note: string; text: string }

export function blocksOf(page: string, markdown = readFileSync(join(root, page), 'utf8')): Block[] {
  return [...markdown.matchAll(/^```(\S*) ?(.*)\n([\s\S]*?)^```$/gm)].map((found) => {
    const [, language = '', note = '', text = ''] = found
    return { page, line: markdown.slice(0, found.index).split('\n').length, language, note, text }
  })
}

/** What is left out of a shown answer, or changes with every run. */
const anything = '…'

/** Whether an answer is as it is shown: what is shown must be there; what is not shown may be. Says what differs. */
export function differenceOf(shown: unknown, actual: unknown, path = 'the answer'): string | null {
  if (shown === anything) return actual === undefined ? `${path} is missing` : null
  if (Array.isArray(shown)) return differenceOfLists(shown, actual, path)
  if (typeof shown === 'object' && shown !== null) {
    if (typeof actual !== 'object' || actual === null) return `${path} is ${JSON.stringify(actual)}, not an object`
    const there = actual as Record<string, unknown>
    const differences = Object.entries(shown).map(([key, value]) => differenceOf(value, there[key], `${path}.${key}`))
    return differences.find((difference) => difference !== null) ?? null
  }
  if (typeof shown === 'string' && shown.includes(anything)) {
    return sayInOrder(shown.split(anything), String(actual)) ? null : `${path} is ${JSON.stringify(actual)}`
  }
  return Object.is(shown, actual) ? null : `${path} is ${JSON.stringify(actual)}, shown is ${JSON.stringify(shown)}`
}

function differenceOfLists(shown: unknown[], actual: unknown, path: string): string | null {
  if (!Array.isArray(actual)) return `${path} is ${JSON.stringify(actual)}, not a list`
  const goesOn = shown.at(-1) === anything
  const items = goesOn ? shown.slice(0, -1) : shown
  if (goesOn ? actual.length < items.length : actual.length !== items.length)
    return `${path} has ${actual.length} items`
  return items.map((item, at) => differenceOf(item, actual[at], `${path}[${at}]`)).find((each) => each !== null) ?? null
}

/** Of printed text each line that is shown must be there, in the order that is shown. */
export function differenceOfText(shown: string, actual: string): string | null {
  const lines = shown.split('\n').filter((line) => line.trim() !== '')
  let rest = squeeze(actual)
  for (const line of lines) {
    for (const piece of line.split(anything).map(squeeze)) {
      const at = rest.indexOf(piece)
      if (at < 0) return `“${piece}” is not in what is printed from there on: ${rest.slice(0, 400)}`
      rest = rest.slice(at + piece.length)
    }
  }
  return null
}

function sayInOrder(pieces: string[], text: string): boolean {
  let from = 0
  for (const piece of pieces) {
    const at = text.indexOf(piece, from)
    if (at < 0) return false
    from = at + piece.length
  }
  return true
}

function squeeze(text: string): string {
  return text.replace(/\s+/g, ' ').trim()
}
