import { readFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { Marked, Renderer, type Token, type Tokens } from 'marked'
import MiniSearch from 'minisearch'
import type { Plugin } from 'vite'
import { callsPage, entries } from './text/contents.ts'
import { searchOptions, type Guide, type GuideHeading, type GuidePart, type GuideSection } from './pages/docs/guide.ts'

const indexModule = 'virtual:guides-index'

/** Makes a module of each guide, and one of the index over all of them. */
export function guides(folder: string): Plugin {
  const pathOf = (page: string): string => join(folder, `${page}.md`)
  return {
    name: 'sluice-guides',
    resolveId: (id) => (id === indexModule ? `\0${indexModule}` : undefined),
    load(id) {
      if (id === `\0${indexModule}`) {
        const pages = entries.map(({ page }) => page).filter((page) => page !== callsPage)
        pages.forEach((page) => this.addWatchFile(pathOf(page)))
        return `export const index = ${JSON.stringify(guidesIndex(folder))}`
      }
      if (!id.endsWith('.md')) return undefined
      const guide = readGuide(basename(id, '.md'), readFileSync(id, 'utf8'))
      return `export const guide = ${JSON.stringify(guide)}`
    },
  }
}

/** The index over all guides, as the browser loads it. */
export function guidesIndex(folder: string): string {
  const pages = entries.map(({ page }) => page).filter((page) => page !== callsPage)
  const search = new MiniSearch<GuideSection>(searchOptions)
  for (const page of pages) search.addAll(sectionsOf(page, readFileSync(join(folder, `${page}.md`), 'utf8')))
  return JSON.stringify(search)
}

/** Behind a heading: words that people look for and the page does not say. */
const searchWords = /<!-- search: (.*?) -->/g

/** A page as it is shown. Throws for a link that leads nowhere in the app. */
export function readGuide(page: string, markdown: string): Guide {
  const { marked, headings } = openReader(page)
  const parts: GuidePart[] = []
  let title = page
  let text: Token[] = []
  const endText = (): void => {
    if (text.length > 0) parts.push({ html: marked.parser(text) })
    text = []
  }
  for (const token of marked.lexer(markdown)) {
    if (isTitle(token)) title = plain(token.text)
    else if (token.type !== 'code') text.push(token)
    else {
      endText()
      const { text: code, lang = '' } = token as Tokens.Code
      parts.push({ code, isAnswer: isAnswer(lang) })
    }
  }
  endText()
  return { title, headings, parts }
}

/** A page as it is searched: the text under each heading, with its code. */
export function sectionsOf(page: string, markdown: string): GuideSection[] {
  const { title, parts } = readGuide(page, markdown)
  const sections: GuideSection[] = [{ id: page, title, heading: '', text: '', words: '' }]
  for (const part of parts) {
    const pieces = 'code' in part ? [part.code] : part.html.split(/(?=<h[2-6] id=")/)
    for (const piece of pieces) {
      const heading = /^<h\d id="([^"]*)">([\s\S]*?)<\/h\d>/.exec(piece)
      if (heading !== null && 'html' in part) {
        const [, id = '', name = ''] = heading
        sections.push({ id: `${page}#${id}`, title, heading: squeeze(withoutTags(name)), text: '', words: '' })
      }
      const last = sections.at(-1)
      const words = [...piece.matchAll(searchWords)].map(([, found]) => found)
      if (last !== undefined && words.length > 0) last.words = words.join(' ')
      const shown = piece.replaceAll(searchWords, '')
      const piecesText = 'code' in part ? shown : withoutTags(shown.slice(heading?.[0].length ?? 0))
      if (last !== undefined) last.text = squeeze(`${last.text} ${piecesText}`)
    }
  }
  return sections
}

/** Anchors are those that git hosts make of a heading, so that one link works in both places. */
export function anchorOf(heading: string): string {
  return heading
    .toLowerCase()
    .replace(/[^\p{L}\p{N}\s_-]/gu, '')
    .trim()
    .replace(/\s/g, '-')
}

function openReader(page: string): { marked: Marked; headings: GuideHeading[] } {
  const headings: GuideHeading[] = []
  let tables = 0
  const marked = new Marked({
    renderer: {
      heading({ tokens, depth, text }) {
        const anchor = anchorOf(plain(text))
        const repeats = headings.filter(({ id }) => id === anchor || id.startsWith(`${anchor}-`)).length
        const id = repeats === 0 ? anchor : `${anchor}-${repeats}`
        headings.push({ id, text: plain(text), depth })
        return `<h${depth} id="${id}"><a href="#${id}">${this.parser.parseInline(tokens)}</a></h${depth}>\n`
      },
      link({ href, tokens }) {
        return `<a href="${escapeHtml(addressOf(page, href))}">${this.parser.parseInline(tokens)}</a>`
      },
      // Wider than a narrow screen: it scrolls by itself, also by the keyboard.
      table(token) {
        const table = Renderer.prototype.table.call(this, token)
        const under = headings.at(-1)?.text ?? entries.find((entry) => entry.page === page)?.title
        const label = escapeHtml(`Table ${++tables}${under === undefined ? '' : `: ${under}`}`)
        const named = table.replace('<table>', `<table aria-label="${label}">`)
        return `<section data-table tabindex="0" aria-label="${label}">${named}</section>`
      },
      // Our pages hold no markup: what looks like a tag is meant as it is written.
      html: ({ text }) => (text.trim().replaceAll(searchWords, '') === '' ? text : escapeHtml(text)),
      image: ({ href }) => refuse(`${page}.md shows ${href}: pictures are not in the app`),
    },
  })
  return { marked, headings }
}

/** Where a link of a page leads in the app: to another guide, to the API's document, or out. */
function addressOf(page: string, href: string): string {
  if (/^(https?:|mailto:|#)/.test(href)) return href
  if (href === 'openapi.json') return '/v1/openapi.json'
  const [, name, anchor = ''] = /^([\w-]+)\.md(#.*)?$/.exec(href) ?? []
  if (entries.some((entry) => entry.page === name)) return `/docs/${name}${anchor}`
  return refuse(`${page}.md links to ${href}, which the app does not have`)
}

function isTitle(token: Token): token is Tokens.Heading {
  return token.type === 'heading' && (token as Tokens.Heading).depth === 1
}

/** Behind the language stands what a block is, for the test that runs it; readers are told of answers. */
function isAnswer(words: string): boolean {
  return words.split(/\s/)[1] === 'answer'
}

function plain(text: string): string {
  return text.replace(/[`*]/g, '').replace(/\[([^\]]*)\]\([^)]*\)/g, '$1')
}

function withoutTags(html: string): string {
  // Inside a sentence a tag is nothing, between blocks it is a gap.
  const text = html.replace(/<\/?(?:code|a|em|strong)\b[^>]*>/g, '').replace(/<[^>]+>/g, ' ')
  return text
    .replace(/&lt;/g, '<')
    .replace(/&gt;/g, '>')
    .replace(/&quot;/g, '"')
    .replace(/&#39;/g, "'")
    .replace(/&amp;/g, '&')
}

function squeeze(text: string): string {
  return text.replace(/\s+/g, ' ').trim()
}

function escapeHtml(text: string): string {
  return text.replace(/&/g, '&amp;').replace(/</g, '&lt;').replace(/>/g, '&gt;').replace(/"/g, '&quot;')
}

function refuse(why: string): never {
  throw new Error(why)
}
