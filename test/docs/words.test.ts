import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { phrases, phrasesIn, withoutComments } from './phrases.ts'

const root = join(import.meta.dirname, '../..')
const programs = ['web/**/*.{ts,tsx}', 'cli/**/*.ts', 'api/**/*.ts', 'server/**/*.ts', 'clients/**/*.{ts,py}']
const pages = ['*.md', 'docs/*.md', 'docs/openapi.json', 'clients/**/*.md', 'deploy/**/*.{md,txt,yaml}']

// The app, the command line, the guides and every message of the service speak as engineers do.
test('no phrase that people stumbled over is back', () => {
  const exclude = (path: string): boolean => /node_modules|[\\/]dist([\\/]|$)|__pycache__/.test(path)
  const files = globSync([...programs, ...pages], { cwd: root, exclude }).map((path) => path.replaceAll('\\', '/'))
  expect(files.length).toBeGreaterThan(900)
  const found = files.flatMap((path) => {
    const text = readFileSync(join(root, path), 'utf8')
    const read = /\.tsx?$/.test(path) ? withoutComments(text) : text
    return phrasesIn(read).map((phrase) => `${path}: “${phrase}”; better: ${phrases[phrase]}`)
  })
  expect(found).toEqual([])
})

test.each([
  ['as it is', 'Roll it out, or take back what is tried.', 'take back'],
  ['in capitals', 'TURNED AWAY', 'turned away'],
  ['over two lines', 'label="However\n        called"', 'however called'],
  ['in typographic quotes', 'Choose “keep answers” below', 'keep answers'],
  ['with a blank that does not break', 'well again', 'well again'],
  ['with a soft hyphen', 'fin­er points', 'finer points'],
  ['between tags', '<Text>Set <b>aside</b></Text>', 'set aside'],
  ['between pieces of JSX', "Not{' '}\n<Code>in</Code> whole", 'not in whole'],
  ['of two strings', "'How it asks ' + 'who you are'", 'how it asks who'],
  ['with a value in it', 'It answered ${percent} % of the keys, since', 'answered * of the keys, since'],
  ['with a dash of another kind', 'Say ‐‐yes to go on', 'say --yes'],
  ['in bold', 'The rows are **put** in place.', 'put in place'],
])('a phrase is found %s', (_how, text, phrase) => {
  expect(phrasesIn(withoutComments(text))).toEqual([phrase])
})

test('a word that only contains one is none, and a comment is for whoever changes the program', () => {
  expect(phrasesIn('offset aside of it, mistake backwards, an intake back-end')).toEqual([])
  expect(phrasesIn(withoutComments("// What is turned away\nopen('https://a.example') /* well again */"))).toEqual([])
})

/** Beginnings that hide what a sentence is about. */
const hidden = /^(?:What|Who|Whoever|Of|That)\b/

function hiddenSubjects(source: string): string[] {
  const lines = [...source.matchAll(/^\s*(?:\{?\/\*\*?|\*|\/\/)\s?(.*)$/gm)].map(([, text = '']) => text.trim())
  return lines.filter((text) => hidden.test(text))
}

test('comments name their subject first', () => {
  const files = globSync(['server/**/*.ts', 'web/**/*.{ts,tsx}', 'cli/**/*.ts', 'api/**/*.ts'], {
    cwd: root,
    exclude: (path) => /node_modules|[\\/]dist([\\/]|$)/.test(path),
  })
  const found = files.flatMap((path) => hiddenSubjects(readFileSync(join(root, path), 'utf8')).map(() => path))
  expect(found).toEqual([])
  expect(
    hiddenSubjects('/** What is kept. */\n  // Whoever asks\n * That one\n/** Whatever comes. */\n// Often.'),
  ).toEqual(['What is kept. */', 'Whoever asks', 'That one'])
})
