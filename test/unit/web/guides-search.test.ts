import MiniSearch from 'minisearch'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { guidesIndex } from '../../../web/guides-plugin.ts'
import { searchGuides, searchOptions, type GuideSection } from '../../../web/pages/docs/guide.ts'

const index = MiniSearch.loadJSON<GuideSection>(guidesIndex(join(import.meta.dirname, '../../../docs')), searchOptions)
const pagesFor = (words: string): string[] => searchGuides(index, words).map(({ id }) => String(id).split('#')[0] ?? '')

/** Searches as people type them, and the guide that answers. */
const searches: Array<[words: string, page: string]> = [
  ['incremental', 'keep-data-fresh'],
  ['incremental load', 'keep-data-fresh'],
  ['upsert', 'keep-data-fresh'],
  ['cron', 'keep-data-fresh'],
  ['schedule', 'keep-data-fresh'],
  ['how often is data refreshed', 'keep-data-fresh'],
  ['backfill', 'keep-data-fresh'],
  ['schema change', 'keep-data-fresh'],
  ['data quality', 'keep-data-fresh'],
  ['pagination', 'connect-an-api'],
  ['next page', 'connect-an-api'],
  ['google sheets', 'spreadsheets'],
  ['excel', 'spreadsheets'],
  ['power bi', 'spreadsheets'],
  ['tableau', 'spreadsheets'],
  ['jupyter notebook', 'spreadsheets'],
  ['pandas', 'spreadsheets'],
  ['share a link', 'spreadsheets'],
  ['how do i upload a csv', 'connect-an-api'],
  ['upload file', 'connect-an-api'],
  ['oauth', 'connect-an-api'],
  ['bearer token', 'connect-an-api'],
  ['graphql', 'connect-an-api'],
  ['openapi import', 'connect-an-api'],
  ['webhook', 'metrics-and-alerts'],
  ['slack notification', 'metrics-and-alerts'],
  ['monitoring', 'metrics-and-alerts'],
  ['slow query', 'metrics-and-alerts'],
  ['prometheus', 'metrics-and-alerts'],
  ['stripe', 'catalog'],
  ['github issues', 'catalog'],
  ['dbt', 'models'],
  ['materialized view', 'models'],
  ['unit test', 'models'],
  ['parameters', 'write-a-query'],
  ['cache', 'write-a-query'],
  ['date range', 'ask-questions'],
  ['synonyms', 'ask-questions'],
  ['canary', 'release-safely'],
  ['rollback', 'release-safely'],
  ['rate limit', 'keys-and-limits'],
  ['revoke api key', 'keys-and-limits'],
  ['row level security', 'keys-and-limits'],
  ['claude', 'mcp'],
  ['chatgpt', 'mcp'],
  ['cursor', 'mcp'],
  ['react component', 'embed'],
  ['cors', 'embed'],
  ['ci pipeline', 'cli'],
  ['git', 'cli'],
  ['backup', 'operate'],
  ['docker', 'operate'],
  ['upgrade', 'operate'],
  ['kubernetes', 'scaling'],
  ['how many rows', 'scaling'],
  ['environment variables', 'configuration'],
  ['ssrf', 'security'],
  ['encryption', 'security'],
  ['python', 'clients'],
  ['typescript sdk', 'clients'],
  ['tutorial', 'tutorial'],
  ['first project', 'tutorial'],
  ['pull request check', 'tutorial'],
  ['recipes', 'recipes'],
  ['stripe revenue', 'recipes'],
  ['google sheet as csv', 'recipes'],
  ['login', 'recipes'],
  ['staging', 'environments'],
  ['separate dev and prod', 'environments'],
  ['sandbox', 'environments'],
  ['looker studio', 'bi-tools'],
  ['metabase superset', 'bi-tools'],
  ['grafana', 'bi-tools'],
  ['tableau', 'bi-tools'],
  ['parquet files', 'bi-tools'],
  ['sizing', 'sizing'],
  ['how much memory', 'sizing'],
  ['capacity planning', 'sizing'],
  ['requests per second', 'sizing'],
  ['faq', 'faq'],
  ['text to sql', 'faq'],
  ['licence', 'faq'],
  ['personal data', 'faq'],
  ['time zone', 'faq'],
  ['airbyte', 'compared-with'],
  ['metabase', 'compared-with'],
  ['429', 'troubleshooting'],
]

test.each(searches)('“%s” finds %s among its first three', (words, page) => {
  expect([...new Set(pagesFor(words))].slice(0, 3)).toContain(page)
})

test('at least fifty searches are tried', () => expect(searches.length).toBeGreaterThanOrEqual(50))

test('what no guide holds finds nothing', () => {
  expect(pagesFor('zebra crossing xylophone')).toEqual([])
})
