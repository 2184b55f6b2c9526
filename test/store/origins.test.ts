import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test, vi } from 'vitest'
import type { Observation } from '../../server/observe.ts'
import { openOrigins } from '../../server/projects/index.ts'
import { openDatabase } from '../../server/store/index.ts'
import { createDatabase } from '../harness/database.ts'

test('origins that could not be read when they changed are read as soon as they can be', async () => {
  const dataDir = await mkdtemp(join(tmpdir(), 'sluice-origins-'))
  onTestFinished(() => rm(dataDir, { recursive: true }))
  const server = await createDatabase()
  onTestFinished(() => server.drop())
  const observed: Observation[] = []
  const observe = (observation: Observation) => void observed.push(observation)
  const store = await openDatabase({ dataDir, databaseUrl: server.url, connections: 4, timeoutMs: 2_000, observe })
  onTestFinished(() => store.close())
  await store.pool.query(`insert into projects (id, name) values ('prj_1', 'One')`)
  const origins = await openOrigins(store, observe)
  onTestFinished(() => origins.close())
  expect(origins.isKnown('https://shop.example')).toBe(false)

  await store.pool.query(
    `update projects set allowed_origins = '{https://shop.example}';
     alter table projects rename to projects_away; select pg_notify('origins_changed', 'prj_1')`,
  )
  await vi.waitFor(() => expect(observed).toMatchObject([{ kind: 'fault', where: 'origins' }]), 5_000)
  expect(origins.allows('prj_1', 'https://shop.example')).toBe(false)
  await store.pool.query('alter table projects_away rename to projects')
  await vi.waitFor(() => expect(origins.allows('prj_1', 'https://shop.example')).toBe(true), 5_000)
})
