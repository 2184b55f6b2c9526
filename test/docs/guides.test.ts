import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { failures } from '../../api/failures.ts'
import { changeDatasource, changeLoad } from '../../api/datasources.ts'
import { startOf } from '../../server/connections/request/last-value.ts'
import { fillVariables } from '../../server/connections/request/variables.ts'
import { fromWire } from '../../api/wire-codec.ts'
import { parseExtractor, pick } from '../../server/rows/index.ts'
import { readGuide, sectionsOf } from '../../web/guides-plugin.ts'
import type { Guide } from '../../web/pages/docs/guide.ts'
import { callsPage, contents, entries } from '../../web/text/contents.ts'
import { excerptOf } from '../../web/pages/docs/excerpt.ts'
import { blocksOf, root } from './blocks.ts'
import { guidePages } from './pages.ts'

const read = (path: string): string => readFileSync(join(root, path), 'utf8')
const nameOf = (path: string): string => path.replace(/^docs\/|\.md$/g, '')
const guides = guidePages.map(nameOf)

const htmlOf = ({ parts }: Guide): string => parts.map((part) => ('html' in part ? part.html : '')).join('')

/** The rules of axe that the markup of a guide can break. */
function barriersIn(html: string): string[] {
  const all = (pattern: RegExp): string[] => [...html.matchAll(pattern)].map(([whole, found]) => found ?? whole)
  const isEmpty = (text: string): boolean => text.replace(/<[^>]+>/g, '').trim() === ''
  // The title is the page's own heading.
  const depths = [1, ...all(/<h([1-6])[ >]/g).map(Number)]
  const ids = all(/ id="([^"]*)"/g)
  return [
    ...depths.flatMap((depth, at) =>
      depth > (depths[at - 1] ?? 1) + 1 ? [`h${depth} follows h${depths[at - 1]}`] : [],
    ),
    ...ids.filter((id, at) => ids.indexOf(id) !== at).map((id) => `two elements are called ${id}`),
    ...all(/<a [^>]*>([\s\S]*?)<\/a>/g).flatMap((words) => (isEmpty(words) ? ['a link has no words'] : [])),
    ...all(/<table[^>]*>/g).flatMap((tag) => (/aria-label="[^"]+"/.test(tag) ? [] : ['a table has no name'])),
    ...all(/<th[^>]*>([\s\S]*?)<\/th>/g).flatMap((words) => (isEmpty(words) ? ['a column has no name'] : [])),
    ...all(/<section[^>]*>/g).flatMap((tag) =>
      /aria-label="[^"]+"/.test(tag) ? [] : ['a part that scrolls has no name'],
    ),
  ]
}

describe('the guides', () => {
  test('are all in the contents of the app, under their own titles', () => {
    const inApp = entries.filter(({ page }) => page !== callsPage)
    expect(inApp.map(({ page }) => page).toSorted()).toEqual(guides)
    for (const { page, title } of inApp) expect(readGuide(page, read(`docs/${page}.md`)).title).toBe(title)
  })

  test('are listed in docs/README.md as in the app', () => {
    const listed = [...read('docs/README.md').matchAll(/^- \[(.+)\]\((.+)\): (.+)$/gm)].map(([, ...cells]) => cells)
    const shown = contents.flatMap((group) =>
      group.entries.map(({ page, title, about }) => [title, page === callsPage ? 'openapi.json' : `${page}.md`, about]),
    )
    expect(listed).toEqual(shown)
  })

  test.each(guides)('%s links to pages and headings that there are', (page) => {
    const { parts } = readGuide(page, read(`docs/${page}.md`))
    const html = parts.map((part) => ('html' in part ? part.html : '')).join('')
    const links = [...html.matchAll(/<a href="([^"]+)"/g)].map(([, href = '']) => href)
    const broken = links.filter((href) => {
      const [, other = page, anchor] = /^(?:\/docs\/([\w-]+))?(?:#(.*))?$/.exec(href) ?? []
      if (href.startsWith('/v1/') || href.startsWith('http') || anchor === undefined) return false
      return !readGuide(other, read(`docs/${other}.md`)).headings.some(({ id }) => id === anchor)
    })
    expect(broken).toEqual([])
  })

  test.each(guides)('%s has code only where a button can copy it', (page) => {
    const { parts } = readGuide(page, read(`docs/${page}.md`))
    expect(parts.filter((part) => 'html' in part && part.html.includes('<pre>'))).toEqual([])
  })

  // What a browser would find is in the markup: the page around it is looked at with one guide (test/web/pages.test.ts).
  test.each(guides)('%s stands in nobody’s way as it is generated', (page) => {
    expect(barriersIn(htmlOf(readGuide(page, read(`docs/${page}.md`))))).toEqual([])
  })

  test('markup that stands in the way is found', () => {
    const planted =
      '<h2 id="a">A</h2><h4 id="a">B</h4><a href="#a"></a><table><tr><th></th></tr></table><section tabindex="0"></section>'
    expect(barriersIn(planted)).toEqual([
      'h4 follows h2',
      'two elements are called a',
      'a link has no words',
      'a table has no name',
      'a column has no name',
      'a part that scrolls has no name',
    ])
  })

  test('a link that leads nowhere is refused when the app is built, and markup is shown as it is written', () => {
    expect(() => readGuide('made-up', 'See [this](decisions/0001.md).')).toThrow('which the app does not have')
    const { parts } = readGuide('made-up', '# Made up\n\nOrders of <script>alert(1)</script>.')
    expect(parts).toEqual([{ html: '<p>Orders of &lt;script&gt;alert(1)&lt;/script&gt;.</p>\n' }])
  })

  test('are searched by section, with their code', () => {
    const sections = sectionsOf(
      'made-up',
      '# Made up\n\nFirst.\n\n## How `it` works\n\n<!-- search: usage manual -->\n\nSecond.\n\n```sh\nsluice plan\n```\n',
    )
    expect(sections).toEqual([
      { id: 'made-up', title: 'Made up', heading: '', text: 'First.', words: '' },
      {
        id: 'made-up#how-it-works',
        title: 'Made up',
        heading: 'How it works',
        text: 'Second. sluice plan',
        words: 'usage manual',
      },
    ])
  })

  test('are quoted around what was looked for', () => {
    const text = `${'before '.repeat(40)}the canary answers ${'after '.repeat(40)}`
    expect(excerptOf(text, ['canary'])).toMatch(/^… .*the canary answers.* …$/)
    expect(excerptOf('Short.', ['canary'])).toBe('Short.')
  })
})

describe('docs/troubleshooting.md', () => {
  const page = read('docs/troubleshooting.md')

  test('says of every error and every reason what to do', () => {
    const sections = new Map(page.split(/^## /m).map((section) => [section.slice(0, section.indexOf('\n')), section]))
    for (const [code, row] of Object.entries(failures)) {
      const section = sections.get('wire' in row ? row.wire : code)
      expect(section, code).toContain(String(row.status))
      for (const reason of row.reasons) expect(section, `${code} ${reason}`).toContain(`\`${reason}\``)
    }
  })

  test('names no error that there is not', () => {
    const codes = new Set(Object.entries(failures).map(([code, row]) => ('wire' in row ? row.wire : code)))
    const headings = readGuide('troubleshooting', page).headings.filter(({ depth }) => depth === 2)
    expect(headings.map(({ id }) => id).toSorted()).toEqual([...codes].toSorted())
  })
})

test('docs/api.md lists every call of the OpenAPI document, as that says it', () => {
  const document = JSON.parse(read('docs/openapi.json')) as {
    paths: Record<string, Record<string, { summary: string }>>
  }
  const calls = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, { summary }]) => `${method.toUpperCase()} ${path}: ${summary}`),
  )
  const listed = [...read('docs/api.md').matchAll(/^\| `([A-Z]+ \/\S+)` +\| (.+?) +\|$/gm)]
  expect(listed.map(([, call, summary]) => `${call}: ${summary}`).toSorted()).toEqual(calls.toSorted())
})

test('the rows that "Connect an API" shows for an extractor are those it takes', () => {
  const rows = [...read('docs/connect-an-api.md').matchAll(/^\| `(\{.*?\})` +\| `(.*?)` +\| `(\{.*?\})` +\|$/gm)]
  expect(rows).toHaveLength(4)
  for (const [, answer = '', extractor = '', row = ''] of rows) {
    expect(pick(JSON.parse(answer), parseExtractor(extractor))).toEqual([JSON.parse(row)])
  }
})

test('the load that "Keep data fresh" shows begins where it says', () => {
  const shown = blocksOf('docs/keep-data-fresh.md').find(({ text }) => text.includes('"load"'))?.text ?? ''
  const { config, load } = changeDatasource.parse(JSON.parse(shown.slice(shown.indexOf('\n\n'))))
  if (config === undefined || load === undefined) throw new Error('a load without its request')
  const rule = fromWire(changeLoad, load)
  const first = JSON.stringify(fillVariables(config, { at: new Date(), lastValue: startOf(rule, null) }))
  expect(first).toContain(String(load.cursor?.initial_value))
  const next = startOf(rule, { type: 'TIMESTAMP', value: '2026-03-01 00:05:00' })
  expect(JSON.stringify(fillVariables(config, { at: new Date(), lastValue: next }))).toContain('"2026-02-28T23:55:00Z"')
})

test('"Queries as tools" has the settings of at least five clients', () => {
  expect(blocksOf('docs/mcp.md').filter(({ note }) => note === 'mcp').length).toBeGreaterThanOrEqual(5)
})
