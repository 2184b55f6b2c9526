import { sql } from 'kysely'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { TestApp } from '../harness/app.ts'
import type { Row, Rule } from '../harness/authorization-row.ts'
import { authorizationRows } from '../harness/authorization-rows.ts'
import {
  callers,
  openAuthorizationStage,
  type CallerName,
  type Ids,
  type Stage,
} from '../harness/authorization-stage.ts'
import { routesOf } from '../harness/routes.ts'
import { openAppWithSource } from '../harness/source.ts'

/** Every route × everybody who might call it: who is refused, how, and that a refusal changes nothing. */

let t: TestApp
let stage: Stage
beforeAll(async () => {
  const opened = await openAppWithSource({
    SLUICE_FAILED_AUTHENTICATIONS_PER_MINUTE: '100000',
    SLUICE_OAUTH_REGISTRATIONS_PER_MINUTE: '1000',
  })
  t = opened.t
  stage = await openAuthorizationStage(t, opened.source)
})
afterAll(() => t.close())

type Refusal = { status: 401 | 403 | 404; error: string; reason?: string }
const signIn: Refusal = { status: 401, error: 'authentication_failed', reason: 'missing' }
const wrongKind: Refusal = { status: 401, error: 'authentication_failed', reason: 'wrong_kind' }
const tooSmall: Refusal = { status: 403, error: 'permission_denied', reason: 'role_too_small' }
const foreignOrigin: Refusal = { status: 403, error: 'permission_denied', reason: 'foreign_origin' }
const outOfReach: Refusal = { status: 403, error: 'permission_denied' }
const missing: Refusal = { status: 404, error: 'not_found' }

type Verdict = Refusal | 'allowed'
type Management = Exclude<CallerName, 'nobody' | 'key' | 'foreign key'>
const tokens = new Set(['token', 'viewer token', 'foreign token', 'operator'])
const otherSites = new Set(['owner from another site', 'owner without origin'])

/** Of callers with a management credential, by rule: those who are refused. Who is not named is allowed. */
const refused: Record<
  Exclude<Rule, 'open' | 'any-client' | 'any-key' | 'any-token' | 'key-of-project' | 'viewer-or-key' | 'nobody'>,
  Partial<Record<Management, Refusal>>
> = {
  'signed-in': {},
  person: { token: wrongKind, 'viewer token': wrongKind, 'foreign token': wrongKind, operator: wrongKind },
  viewer: { stranger: missing, 'foreign token': missing },
  editor: { viewer: tooSmall, 'viewer token': tooSmall, stranger: missing, 'foreign token': missing },
  'editor-in-person': {
    viewer: tooSmall,
    stranger: missing,
    token: wrongKind,
    'viewer token': wrongKind,
    'foreign token': wrongKind,
    operator: wrongKind,
  },
  owner: { viewer: tooSmall, editor: tooSmall, 'viewer token': tooSmall, stranger: missing, 'foreign token': missing },
  administrator: {
    viewer: tooSmall,
    editor: tooSmall,
    owner: tooSmall,
    stranger: tooSmall,
    token: tooSmall,
    'viewer token': tooSmall,
    'foreign token': tooSmall,
    'owner from another site': tooSmall,
    'owner without origin': tooSmall,
  },
  'owner-of-key': {
    viewer: missing,
    editor: missing,
    stranger: missing,
    'viewer token': missing,
    'foreign token': missing,
  },
  'owner-of-token': {
    viewer: missing,
    editor: missing,
    stranger: missing,
    'viewer token': tooSmall,
    'foreign token': missing,
  },
  'maker-of-tokens': {
    stranger: missing,
    token: tooSmall,
    'viewer token': tooSmall,
    'foreign token': tooSmall,
  },
  'owner-in-person': {
    viewer: tooSmall,
    editor: tooSmall,
    stranger: missing,
    token: wrongKind,
    'viewer token': wrongKind,
    'foreign token': wrongKind,
    operator: wrongKind,
  },
  'maker-of-projects': { 'viewer token': tooSmall },
}

function verdictFor(rule: Rule, caller: CallerName, method: string): Verdict {
  if (rule === 'nobody') return missing
  if (rule === 'any-client') return 'allowed'
  if (rule === 'any-token') {
    if (caller.endsWith('key')) return wrongKind
    return tokens.has(caller) ? 'allowed' : signIn
  }
  if (rule === 'any-key' || rule === 'key-of-project') {
    if (caller === 'key') return 'allowed'
    if (caller === 'foreign key') return rule === 'any-key' ? 'allowed' : outOfReach
    return tokens.has(caller) ? wrongKind : signIn
  }
  if (rule === 'viewer-or-key' && caller === 'key') return 'allowed'
  if (rule === 'viewer-or-key' && caller === 'foreign key') return outOfReach
  if (otherSites.has(caller) && method !== 'GET' && method !== 'OPTIONS') return foreignOrigin
  if (rule === 'open') return 'allowed'
  if (caller === 'nobody') return signIn
  if (caller === 'key' || caller === 'foreign key') return wrongKind
  return refused[rule === 'viewer-or-key' ? 'viewer' : rule][caller] ?? 'allowed'
}

type Entry = { route: string; row: Row }
const entries: Entry[] = Object.entries(authorizationRows).flatMap(([route, rows]) =>
  [rows].flat().map((row) => ({ route, row })),
)
const cells = entries.flatMap((entry) =>
  callers.map((caller) => {
    const [method = ''] = entry.route.split(' ')
    return { ...entry, caller, method, verdict: verdictFor(entry.row.rule, caller, method) }
  }),
)
type Cell = (typeof cells)[number]

test('every route has its row, and every row its route', () => {
  const known = Object.keys(authorizationRows)
  // The router does not print what comes before a wildcard.
  const [wild, plain] = partition(routesOf(t.http), (route) => route.includes('*'))
  const [wildRows, plainRows] = partition(known, (route) => route.includes('*'))
  expect(plainRows.toSorted()).toEqual(plain.filter((route) => !/^GET \/(assets|embed)\//.test(route)))
  expect(wildRows.length).toBe(wild.length)
  for (const route of wildRows) expect(t.http.hasRoute({ method: 'GET', url: route.split(' ')[1] ?? '' })).toBe(true)
})

describe('who may not', () => {
  test('is refused as the rule says, and nothing has changed', async () => {
    const before = await fingerprint()
    const wrong: string[] = []
    for (const cell of cells) {
      if (cell.verdict === 'allowed') continue
      const { status, body } = await call(cell, stage.ids)
      const { error, reason } = body as { error?: string; reason?: string }
      const got = { status, error, ...(reason !== undefined && { reason }) }
      if (JSON.stringify(got) !== JSON.stringify(cell.verdict)) wrong.push(mismatch(cell, got))
    }
    expect(wrong).toEqual([])
    expect(await fingerprint()).toEqual(before)
  })

  test('is refused for the credential before the body is looked at', async () => {
    const wrong: string[] = []
    for (const cell of cells) {
      if (cell.method === 'GET' || cell.verdict === 'allowed' || cell.verdict.status !== 401) continue
      const { status } = await call(cell, stage.ids, { text: '{"half a body' })
      if (status !== 401) wrong.push(mismatch(cell, status))
    }
    expect(wrong).toEqual([])
  })

  test('learns nothing: what is not theirs answers like what is not there', async () => {
    const nowhere = nothingOf(stage.ids)
    const wrong: string[] = []
    for (const cell of cells) {
      if (cell.verdict === 'allowed' || cell.verdict.status !== 404) continue
      const there = await call(cell, stage.ids)
      const notThere = await call(cell, nowhere)
      const [one, other] = [words(there, stage.ids), words(notThere, nowhere)]
      if (one !== other) wrong.push(`${cell.route} as ${cell.caller}: ${one} is not ${other}`)
    }
    expect(wrong).toEqual([])
  })
})

test('what is of another project is not there under the path of one’s own', async () => {
  const place = { project_id: stage.foreignProjectId }
  const tries: Array<{ cell: Cell; theirs: Ids }> = []
  for (const { route, row } of entries) {
    const names = [...`${route} ${row.search ?? ''}`.matchAll(/:([a-z_]+_id)/g)].map(([, name]) => name)
    if (!names.includes('project_id') || names.length < 2) continue
    const made: Partial<Ids> = {}
    for (const [name, maker] of Object.entries(row.fresh ?? {})) made[name as keyof Ids] = await stage.make(maker)
    const cell: Cell = { route, row, caller: 'stranger', method: '', verdict: missing }
    tries.push({ cell, theirs: { ...stage.ids, ...made, ...place } })
  }
  expect(tries.length).toBeGreaterThan(35)
  const before = await fingerprint()
  const wrong: string[] = []
  for (const { cell, theirs } of tries) {
    const nowhere: Ids = { ...nothingOf(theirs), ...place }
    const [one, other] = [words(await call(cell, theirs), theirs), words(await call(cell, nowhere), nowhere)]
    if (!one.startsWith('{"status":404') || one !== other) wrong.push(`${cell.route}: ${one} and ${other}`)
  }
  expect(wrong).toEqual([])
  expect(await fingerprint()).toEqual(before)
}, 120_000)

test('who may is answered', async () => {
  const wrong: string[] = []
  for (const cell of cells) {
    if (cell.verdict !== 'allowed') continue
    const ids = { ...stage.ids, unique: stage.unique() }
    for (const [name, maker] of Object.entries(cell.row.fresh ?? {})) ids[name as keyof Ids] = await stage.make(maker)
    const { status, body } = await call(cell, ids, { session: cell.row.session })
    if (status !== (cell.row.status ?? 200)) wrong.push(mismatch(cell, { status, body }))
  }
  expect(wrong).toEqual([])
}, 120_000)

async function call(
  { route, row, caller }: Cell,
  ids: Ids,
  { text, session }: { text?: string; session?: 'fresh' | undefined } = {},
): Promise<{ status: number; body: unknown }> {
  const [method = '', path = ''] = route.split(' ')
  const url = `${path.replace('/*', '/x')}${row.search ?? ''}`.replaceAll(
    /:([a-z_]+)/g,
    (_whole, name: keyof Ids) => ids[name],
  )
  const body = typeof row.body === 'function' ? row.body(ids) : row.body
  const response = await t.http.inject({
    method: method as 'GET',
    url,
    headers: {
      ...(await stage.headersOf(caller, session)),
      ...(text !== undefined && { 'content-type': 'application/json' }),
    },
    ...((text ?? body) !== undefined && { payload: text ?? body }),
    // Headers are enough to know: what follows may have no end.
    payloadAsStream: true,
  })
  const stream = response.stream()
  if (row.stream && response.statusCode === 200) {
    stream.destroy()
    return { status: 200, body: {} }
  }
  const chunks: Buffer[] = []
  for await (const chunk of stream) chunks.push(chunk as Buffer)
  const isJson = String(response.headers['content-type']).startsWith('application/json')
  const got = Buffer.concat(chunks).toString()
  return { status: response.statusCode, body: isJson && got !== '' ? envelopeIn(JSON.parse(got)) : {} }
}

/** Tools speak JSON-RPC, and have the envelope inside of it. */
function envelopeIn(body: Record<string, unknown>): unknown {
  const { error } = body
  return 'jsonrpc' in body && typeof error === 'object' && error !== null && 'data' in error ? error.data : body
}

/** The same names for what is not there. */
function nothingOf(ids: Ids): Ids {
  const nowhere = { ...ids }
  for (const name of Object.keys(nowhere) as Array<keyof Ids>) {
    if (name.endsWith('_id')) nowhere[name] = nowhere[name].replace(/[0-9A-Z]{26}$/, '0'.repeat(26))
  }
  return nowhere
}

function partition<Item>(items: Item[], isFirst: (item: Item) => boolean): [Item[], Item[]] {
  return [items.filter(isFirst), items.filter((item) => !isFirst(item))]
}

/** An answer without what differs from call to call: its request, and the names that the caller sent. */
function words({ status, body }: { status: number; body: unknown }, ids: Ids): string {
  const { request_id: _id, ...rest } = body as Record<string, unknown>
  let text = JSON.stringify({ status, ...rest })
  for (const [name, id] of Object.entries(ids)) if (name.endsWith('_id')) text = text.replaceAll(id, `{${name}}`)
  return text
}

function mismatch({ route, caller, verdict }: Cell, got: unknown): string {
  return `${route} as ${caller}: ${JSON.stringify(got)}, not ${JSON.stringify(verdict)}`
}

/** Every row of every table but those that note when something was used last. */
async function fingerprint(): Promise<Record<string, string>> {
  const { db } = t.app.store
  const { rows: tables } = await sql<{ name: string }>`
    select tablename as name from pg_tables where schemaname = 'public'
    and tablename not in ('sessions', 'management_tokens', 'api_keys', 'api_key_uses', 'api_key_addresses')
    and tablename not like 'request%' and tablename not like 'usage%' order by 1`.execute(db)
  const prints: Record<string, string> = {}
  for (const { name } of tables) {
    const { rows } = await sql<{ print: string | null }>`
      select md5(string_agg(each::text, ',' order by each::text)) as print from ${sql.table(name)} as each`.execute(db)
    prints[name] = rows[0]?.print ?? ''
  }
  expect(Object.keys(prints).length).toBeGreaterThan(15)
  return prints
}
