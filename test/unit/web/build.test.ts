import { expect, test } from 'vitest'
import {
  bodyOf,
  configurationOf,
  draftOf,
  emptyDraft,
  newPair,
} from '../../../web/pages/build/connections/fields/draft.ts'
import { formatPath, tableOf, valueAt } from '../../../web/pages/build/connections/response/response.ts'
import { parametersOf, slotNames } from '../../../web/pages/query/slots/slots.ts'
import type { Datasource } from '../../../web/pages/build/shared/wire.ts'

test.each([
  [['data', 'items'], 'data.items'],
  [['items', 0, 'rows'], 'items[0].rows'],
  [['a.b', 'c d'], '["a.b"]["c d"]'],
])('a path of the tree is one that the extractor reads: %j', (steps, path) => {
  expect(formatPath(steps)).toBe(path)
  const nested = steps.reduceRight<unknown>(
    (inner, step) => (typeof step === 'number' ? [inner] : { [step]: inner }),
    'found',
  )
  expect(valueAt(nested, path)).toBe('found')
})

test('text that holds JSON is read on the way and at the end', () => {
  expect(valueAt({ body: '{"items":"[1,2]"}' }, 'body.items')).toEqual([1, 2])
  expect(valueAt({ body: 'plain' }, 'body.items')).toBeUndefined()
})

test('a list becomes its elements, anything else one row, and what is no object a value', () => {
  expect(tableOf([{ id: 1 }, { id: 2.5, on: true }], 20)).toMatchObject({
    count: 2,
    columns: [
      { name: 'id', type: 'DOUBLE' },
      { name: 'on', type: 'BOOLEAN' },
    ],
  })
  expect(tableOf({ id: 1 }, 20).rows).toEqual([{ id: 1 }])
  expect(tableOf(['a'], 20).rows).toEqual([{ value: 'a' }])
})

test('a configuration survives the form, and lines without a name are not sent', () => {
  const config = {
    url: 'https://api.example.com/orders',
    method: 'GET',
    headers: { accept: 'application/json' },
    parameters: { since: { value: '2026-01-01', required: true } },
    parameterGroups: [{ name: 'by day', active: true, parameters: { day: { value: '1', required: false } } }],
    authType: 'Bearer Token',
    auth: { token: '***' },
    responsePathExtractor: 'data.items',
  }
  const source: Datasource = {
    id: 'ds_1',
    name: 'Orders',
    kind: 'http_api',
    table_name: 'orders',
    status: 'ready',
    held: null,
    config,
    for_each: null,
    pagination: null,
    load: { mode: 'replace' },
    schedule: null,
    schedule_time_zone: 'UTC',
    tags: [],
    next_refresh_at: null,
    keep_versions: 3,
    refreshed_at: null,
    last_error: null,
    created_at: '2026-01-01T00:00:00.000Z',
  }
  const draft = draftOf(source)
  expect(configurationOf({ ...draft, headers: [...draft.headers, newPair('', 'lost')] })).toEqual(config)
  expect(bodyOf({ ...emptyDraft, method: 'POST', bodyType: 'form', body: 'a=1\nb=x=y' })).toEqual({
    type: 'form',
    content: { a: '1', b: 'x=y' },
  })
})

test('slots are those outside texts and comments', () => {
  expect(slotNames("select '$no', $Region -- $neither\nfrom t where a = $region and b > $least")).toEqual([
    'region',
    'least',
  ])
})

test('values are sent as the type of their slot, and what is empty is not given', () => {
  const slots = {
    type: 'object' as const,
    additionalProperties: false as const,
    required: [],
    properties: {
      name: { type: 'string' as const },
      count: { type: 'integer' as const },
      big: { type: 'integer' as const },
      on: { type: 'boolean' as const },
      ids: { type: 'array' as const, items: { type: 'integer' as const } },
    },
  }
  const values = { name: '', count: '5', big: '9007199254740993', on: 'true', ids: ['1', '2'] }
  expect(parametersOf(slots, values)).toEqual({ count: 5, big: '9007199254740993', on: true, ids: [1, 2] })
})
