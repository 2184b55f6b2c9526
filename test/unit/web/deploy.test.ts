import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import {
  emptyDraft,
  keepable,
  newPair,
  takenUp,
  textOfDraft,
} from '../../../web/pages/build/connections/fields/draft.ts'
import { createTwoFilesPatch } from 'diff'
import { changedLines, replacedText } from '../../../web/pages/query/deploying/diff-lines.ts'
import { grantedOf, permissionsOf, whyNothing } from '../../../web/pages/keys/granted.ts'
import { judgeRelease } from '../../../web/pages/releases/release-verdict.ts'
import { sayComparison } from '../../../web/pages/releases/replay-words.ts'
import { sayGrowth, sayLosses } from '../../../web/pages/deploy/shared/words.ts'
import { readChapters, type OpenApi } from '../../../web/pages/docs/openapi.ts'

const judged = {
  status: 'checked',
  queries: [{ compatibility: 'compatible' }],
  routing: { checked: 3, regressions: [] },
} as unknown as Parameters<typeof judgeRelease>[0]
const ran = {
  calls: 22,
  different: 0,
  failed: 0,
  unstable: 0,
  reordered: 0,
  status: 'finished',
} as unknown as NonNullable<Parameters<typeof judgeRelease>[1]>

test('the verdict on a release is that of the worst of columns, questions and recorded calls', () => {
  expect(judgeRelease(judged, ran)).toMatchObject({
    mood: 'good',
    says: 'No difference for existing callers was found.',
  })
  expect(judgeRelease(judged, { ...ran, different: 5 })).toMatchObject({
    mood: 'caution',
    says: 'Existing callers would get other answers.',
    parts: [{ mood: 'good' }, { mood: 'good' }, { mood: 'caution', says: 'of 22 calls, 5 get other rows.' }],
  })
  expect(judgeRelease(judged, { ...ran, failed: 1 })).toMatchObject({
    mood: 'bad',
    says: 'Existing callers would get errors.',
  })
  const moved = { checked: 3, regressions: [{ question: 'q', query: 'a', taken_by: null, source: 'example' as const }] }
  expect(judgeRelease({ ...judged, routing: moved }, null).mood).toBe('caution')
  const breaking = { ...judged, queries: [{ compatibility: 'breaking' }] } as unknown as typeof judged
  expect(judgeRelease(breaking, ran)).toMatchObject({ mood: 'bad', says: 'Existing callers would break.' })
  expect(judgeRelease({ ...breaking, status: 'released' }, ran).says).toBe('It broke existing callers.')
})

test('permissions become boxes and the same permissions again', () => {
  const permissions = [
    { project_id: 'prj_1', environments: '*' as const },
    { project_id: 'prj_2', environments: ['production'], queries: ['sales'] },
  ]
  expect(permissionsOf(grantedOf(permissions) ?? {})).toEqual(permissions)
  expect(permissionsOf(grantedOf([{ project_id: '*', environments: '*' }]) ?? {})).toEqual([
    { project_id: '*', environments: '*' },
  ])
})

test('several lines for one project are no boxes: run together they would reach more', () => {
  const lines = [
    { project_id: 'prj_1', environments: ['staging'] },
    { project_id: 'prj_1', environments: ['production'], queries: ['sales'] },
  ]
  expect(grantedOf(lines)).toBeNull()
})

test.each([
  [{}, 'Tick at least one project.'],
  [{ prj_1: { environments: [], queries: null } }, 'Tick at least one environment.'],
  [{ prj_1: { environments: null, queries: [] } }, 'Tick at least one query.'],
  [{ prj_1: { environments: null, queries: null } }, null],
])('what is ticked in %j is %s', (granted, why) => {
  expect(whyNothing(granted)).toBe(why)
})

test.each([
  [108, 100, 'the week before', '+8 % on the week before'],
  [50, 100, 'the day before', '−50 % on the day before'],
  [100, 100, 'the hour before', 'as many as the hour before'],
  [2400, 100, 'the days before', '24 times as many as the days before'],
  [5, 0, 'the day before', ''],
  [5, undefined, 'the day before', ''],
])('%d calls after %d of %s are %s', (now, before, then, words) => {
  expect(sayGrowth(now, before, then)).toBe(words)
})

test.each([
  [0, [], 'No questions are on record that it answers.'],
  [1, [], 'The question on record for it would go where it goes today.'],
  [1, [null], 'The question on record for it was asked as if it were gone: 1 would be refused.'],
  [
    3,
    [null, 'orders', null],
    'The 3 questions on record for it were asked as if it were gone: 2 would be refused, 1 would go to another query.',
  ],
])('undeploying with %d questions, taken by %j, says: %s', (checked, takers, words) => {
  const regressions = takers.map((taker, at) => {
    return { question: `question ${at}`, query: 'sales', taken_by: taker, source: 'example' as const }
  })
  expect(sayLosses({ routing: { checked, regressions } })).toBe(words)
})

test('a diff is read without the names and places of files, and loses no comment that went', () => {
  const patch =
    createTwoFilesPatch('sql of version 1', 'sql of draft', '-- by region\nselect 1\n', 'select 2\n') +
    createTwoFilesPatch('settings of version 1', 'settings of draft', '{ "a": 1 }\n', '{ "a": 2 }\n')
  const lines = ['--- by region', '-select 1', '+select 2', '', '-{ "a": 1 }', '+{ "a": 2 }']
  expect(changedLines({ diff: patch, replaced: [] })).toEqual(lines)
  expect(changedLines({ diff: '', replaced: [] })).toEqual([])
  expect(replacedText({ diff: patch, replaced: [] })).toBeNull()
  // Of what is replaced no line was compared, so none is shown.
  expect(changedLines({ diff: patch, replaced: ['sql'] })).toEqual(lines.slice(4))
  expect(replacedText({ diff: patch, replaced: ['sql'] })).toBe('Replaced, with too many lines to compare: SQL.')
})

test('the reference has every call of the API in one chapter, with what it takes and gives', () => {
  const file = join(import.meta.dirname, '../../../docs/openapi.json')
  const document = JSON.parse(readFileSync(file, 'utf8')) as OpenApi
  const operations = readChapters(document).flatMap((chapter) => chapter.operations)
  const described = Object.values(document.paths).flatMap((path) => Object.keys(path))
  expect(operations).toHaveLength(described.length)
  expect(new Set(operations.map(({ id }) => id)).size).toBe(operations.length)
  const execute = operations.find(({ id }) => id === 'post /v1/http/execute-request')
  expect(execute?.sends.filter(({ required }) => required).map(({ name }) => name)).toEqual(
    expect.arrayContaining(['project_id', 'datasource_id', 'connect_spec']),
  )
  expect(execute?.gets.map(({ name }) => name)).toEqual(expect.arrayContaining(['jobs', 'data_object_id']))
})

test('a kept connection has no secret, and takes up the stored ones again', () => {
  const stored = {
    ...emptyDraft,
    authType: 'Bearer Token' as const,
    auth: { token: '***' },
    headers: [newPair('X-Api-Key', '***'), newPair('Accept', 'text/csv')],
  }
  const edited = {
    ...stored,
    url: 'https://api.example.org',
    auth: { token: 'typed' },
    headers: [newPair('X-Api-Key', 'typed'), newPair('Accept', 'application/json')],
  }
  const kept = keepable(edited)
  expect(JSON.stringify(kept)).not.toContain('typed')
  expect(takenUp(kept, stored)).toMatchObject({
    url: 'https://api.example.org',
    auth: { token: '***' },
    headers: [
      { name: 'X-Api-Key', value: '***' },
      { name: 'Accept', value: 'application/json' },
    ],
  })
})

test('drafts that differ in nothing but the numbers of their lines are the same', () => {
  const lines = () => ({ ...emptyDraft, parameters: [newPair('since', '2026')] })
  expect(textOfDraft(lines())).toBe(textOfDraft(lines()))
  expect(textOfDraft(lines())).not.toBe(textOfDraft(emptyDraft))
})

test('rows of two answers are found again by their columns; one beside one by none', () => {
  const columns = { added: [], removed: [], retyped: [] }
  const unchanged = { added: 0, removed: 0, changed_columns: {}, columns, sample: [] }
  const compared = (changed: number, key: string[] | null) =>
    sayComparison({
      outcome: 'different',
      because: null,
      before: null,
      after: null,
      comparison: { ...unchanged, changed, key },
    })
  expect(compared(3, ['region', 'day'])).toBe('3 rows changed, found again by region, day.')
  expect(compared(1, [])).toBe('1 row changed.')
  expect(compared(1, null)).toBe('1 row changed.')
})
