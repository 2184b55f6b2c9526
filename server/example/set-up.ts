import { setTimeout as wait } from 'node:timers/promises'
import type { App } from '../app.ts'
import {
  createKey,
  noteExampleDone,
  noteExampleProject,
  readExampleState,
  rotateKey,
  systemCaller,
  type Caller,
  type UserCaller,
} from '../access/index.ts'
import { executeRequest } from '../connections/index.ts'
import { Failure } from '../failure.ts'
import { newId } from '../ids.ts'
import { createModel, findModel } from '../models/index.ts'
import { createProject, deleteProject } from '../projects/index.ts'
import { createQuery, defaultSettings, deployQuery } from '../queries/index.ts'
import { putTest } from '../row-tests/index.ts'
import { takeLease } from '../store/index.ts'
import { exampleModel, exampleTests } from './models.ts'
import { exampleQueries } from './queries.ts'

/** The example, as a newcomer can call it at once. */
export type Example = { projectId: string; keySecret: string }

const graceSeconds = 86_400
const [buildMs, lookMs] = [60_000, 20]

/**
 * The example project of a new installation, made by its first user through the same verbs as any other: the sample
 * API is connected and executed, queries over it are deployed, and a key is made. Never in an installation that was
 * there before; after a crash half-way it is made anew.
 */
export async function ensureExample(app: App, owner: UserCaller, address: string): Promise<Example | undefined> {
  // One of several that start together makes it; to the others its half would look like what a crash left.
  await using lease = await takeLease(app.store, 'example project')
  if (lease === undefined) return undefined
  const state = await readExampleState(app.store)
  if (state.example === 'off') return undefined
  if (state.example === 'done') return findExample(app, state.projectId, state.keyId)
  if (state.projectId !== null) await deleteHalf(app, state.projectId)
  const { id: projectId } = await createProject(app, owner, { name: 'Example shop' })
  await noteExampleProject(app.store, projectId)
  await connectSample(app, owner, { projectId, address })
  await buildModel(app, owner, projectId)
  for (const query of exampleQueries) {
    await createQuery(app, owner, { ...defaultSettings, ...query, projectId })
    await deployQuery(app, owner, { projectId, name: query.name, environment: 'production', force: true })
  }
  for (const test of exampleTests) await putTest(app, owner, { projectId, test })
  const key = await createKey(app, owner, {
    name: 'Example',
    permissions: [{ projectId, environments: ['production'], queries: null }],
  })
  await noteExampleDone(app.store, key.id)
  return { projectId, keySecret: key.secret }
}

async function connectSample(
  app: App,
  owner: Caller,
  { projectId, address }: { projectId: string; address: string },
): Promise<void> {
  const sources = [
    { name: 'Shops', path: '/sample/shops' },
    { name: 'Products', path: '/sample/products', responsePathExtractor: 'items' },
    { name: 'Orders', path: '/sample/orders', responsePathExtractor: 'data', paged: true },
  ]
  for (const { name, path, responsePathExtractor, paged } of sources) {
    const url = `http://sample.localhost:${new URL(address).port}${path}`
    const config = {
      url,
      method: 'GET' as const,
      ...(responsePathExtractor !== undefined && { responsePathExtractor }),
    }
    await executeRequest(app, owner, {
      request: {
        project_id: projectId,
        datasource_id: newId('datasource'),
        connect_spec: { name, id: 'http_api', config },
        url,
        method: 'GET',
        ...(paged === true && { pagination: { type: 'next_link' as const, path: 'next', max_pages: 20 } }),
      },
    })
  }
}

/** Waits for its first build, which some process with workers does: queries read it. */
async function buildModel(app: App, owner: Caller, projectId: string): Promise<void> {
  await createModel(app, owner, { ...exampleModel, projectId })
  const named = { projectId, name: exampleModel.name }
  for (const deadlineMs = performance.now() + buildMs; ; await wait(lookMs)) {
    const { rowCount, problem } = await findModel(app, owner, named)
    if (rowCount !== null) break
    if (problem !== null) throw new Error(`The model of the example was not built: ${problem}`)
    if (performance.now() > deadlineMs) throw new Error('Nobody has built the model of the example.')
  }
  // Another process may have built it.
  app.catalogs.forget(projectId)
}

/** A secret is shown once, so each start that prints one makes a new one; the one before lives another day. */
async function findExample(app: App, projectId: string | null, keyId: string | null): Promise<Example | undefined> {
  if (projectId === null || keyId === null) return undefined
  try {
    const { secret } = await rotateKey(app, systemCaller, { keyId, graceSeconds })
    return { projectId, keySecret: secret }
  } catch (error) {
    // Someone has deleted the project or revoked the key, as they may.
    if (error instanceof Failure) return undefined
    throw error
  }
}

async function deleteHalf(app: App, projectId: string): Promise<void> {
  try {
    await deleteProject(app, systemCaller, projectId)
  } catch (error) {
    if (!(error instanceof Failure) || error.code !== 'not_found') throw error
  }
}
