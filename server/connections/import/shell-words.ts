import { type Failure, invalidField } from '../../failure.ts'

/** A refusal of a pasted command, in words. */
export function refuseCommand(message: string): Failure {
  return invalidField('command', message, { message })
}

const escapes: Record<string, string> = {
  n: '\n',
  t: '\t',
  r: '\r',
  a: '\u0007',
  b: '\b',
  e: '\u001b',
  f: '\f',
  v: '\v',
  0: '\0',
}

/** Where a quoted part ends and what it says. */
type Part = { text: string; end: number }

/**
 * Splits one command as a shell would: quotes of every kind, `$'…'`, escapes and continued lines. Nothing is expanded;
 * what only a shell can do (variables, pipes, substitutions) is refused, since its outcome cannot be known here.
 */
export function splitCommand(command: string): string[] {
  const text = command.trim().replaceAll('\r\n', '\n')
  const words: string[] = []
  let word: string | null = null
  let at = 0
  while (at < text.length) {
    const part = partAt(text, at)
    if (part === null) {
      if (word !== null) words.push(word)
      word = null
      at += 1
      continue
    }
    if (part.text !== '' || part.end - at > 2 || /["']/.test(text[at] ?? '')) word = (word ?? '') + part.text
    at = part.end
  }
  if (word !== null) words.push(word)
  return words
}

/** Letters that mean themselves: read in one go, as nearly all of a long command are such. */
const plainLetters = /[^\s'"\\^$|;<>`]+/y
const plainInDoubleQuotes = /[^"\\$`]+/y

function runAt(letters: RegExp, text: string, at: number): string {
  letters.lastIndex = at
  return letters.exec(text)?.[0] ?? ''
}

/** The part of a word that starts at `at`; `null` for the space between words. */
function partAt(text: string, at: number): Part | null {
  const run = runAt(plainLetters, text, at)
  if (run !== '') return { text: run, end: at + run.length }
  const character = text[at] ?? ''
  if (/\s/.test(character)) return null
  if (character === "'") return plainQuoted(text, at)
  if (character === '"') return doubleQuoted(text, at)
  if (character === '$' && text[at + 1] === "'") return dollarQuoted(text, at)
  if (character === '\\' || (character === '^' && text[at + 1] === '\n')) {
    const next = text[at + 1] ?? ''
    return { text: next === '\n' ? '' : next, end: at + 2 }
  }
  if (character === '$' && /[A-Za-z_{(]/.test(text[at + 1] ?? '')) {
    throw refuseCommand('The command uses a shell variable ($…); put its value in its place.')
  }
  if ('|;<>`'.includes(character))
    throw refuseCommand(`The command holds ${character}, which only a shell can run; keep the curl command alone.`)
  return { text: character, end: at + 1 }
}

function closing(end: number): number {
  if (end < 0) throw refuseCommand('The command ends inside a quoted text.')
  return end
}

function plainQuoted(text: string, at: number): Part {
  const end = closing(text.indexOf("'", at + 1))
  return { text: text.slice(at + 1, end), end: end + 1 }
}

function doubleQuoted(text: string, start: number): Part {
  let out = ''
  for (let at = start + 1; at < text.length; at += 1) {
    const run = runAt(plainInDoubleQuotes, text, at)
    out += run
    at += run.length
    const character = text[at] ?? ''
    if (character === '"') return { text: out, end: at + 1 }
    if (character === '\\' && /["\\$`\n]/.test(text[at + 1] ?? '')) {
      at += 1
      out += text[at] === '\n' ? '' : (text[at] ?? '')
    } else if (character === '`' || (character === '$' && /[A-Za-z_{(]/.test(text[at + 1] ?? ''))) {
      throw refuseCommand('The command uses a shell variable or substitution; put its value in its place.')
    } else out += character
  }
  return { text: out, end: closing(-1) }
}

const dollarEscape = /\\(?:u([0-9a-fA-F]{1,4})|U([0-9a-fA-F]{1,8})|x([0-9a-fA-F]{1,2})|([0-7]{1,3})|([\s\S]))/g

function dollarQuoted(text: string, start: number): Part {
  let end = start + 2
  while (end < text.length && text[end] !== "'") end += text[end] === '\\' ? 2 : 1
  closing(end < text.length ? end : -1)
  const inside = text.slice(start + 2, end)
  const undone = inside.replaceAll(dollarEscape, (_all, ...groups: (string | undefined)[]) => {
    const [short, long, hex, octal, letter = ''] = groups
    const code = short ?? long ?? hex
    if (code !== undefined) return String.fromCodePoint(Math.min(Number.parseInt(code, 16), 0x10_ffff))
    if (octal !== undefined) return String.fromCodePoint(Number.parseInt(octal, 8))
    return escapes[letter] ?? letter
  })
  return { text: undone, end: end + 1 }
}
