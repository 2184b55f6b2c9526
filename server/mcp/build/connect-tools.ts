import { z } from 'zod'
import { definitionOf, missingInputs, usualPrefix } from '../../../api/catalog-definition.ts'
import { fixedLimits } from '../../../api/limits.ts'
import { slug } from '../../../api/envelope.ts'
import { invalidField } from '../../failure.ts'
import type { Job, Operations } from './operations.ts'
import { buildTool, type BuildTool } from './tool.ts'

type Datasource = { id: string; name: string; table_name: string; status: string; last_error: unknown }
type Imported = {
  operations: Array<{ id: string; method: string; url: string; summary: string }>
  truncated: boolean
  connection: { name: string; configuration: Record<string, unknown>; pagination: unknown; notes: string[] } | null
}

const maxOperations = 100
const table = slug.meta({ description: 'The table that SQL reads.' })

const listCatalog = buildTool({
  name: 'list_catalog',
  title: 'Find a ready API',
  description: 'Lists the APIs of the catalog, with the inputs that each needs and the tables and queries it brings.',
  input: z.strictObject({ search: z.string().max(100).default('').meta({ description: 'A word; left out: all.' }) }),
  act: 'reads',
  run: async ({ catalog }, { search }) => {
    const word = search.toLowerCase()
    const found = (await catalog()).filter(({ name, entry }) =>
      `${name} ${entry.title} ${entry.about} ${entry.category}`.toLowerCase().includes(word),
    )
    return {
      entries: found.map(({ name, entry }) => ({
        entry: name,
        title: entry.title,
        about: entry.about,
        inputs: Object.entries(entry.inputs ?? {}).map(([input, { label, default: usual, secret }]) => ({
          name: input,
          label,
          ...(usual !== undefined && { default: usual }),
          ...(secret === true && { secret }),
        })),
        tables: Object.keys(entry.tables),
        queries: Object.keys(entry.queries ?? {}),
      })),
    }
  },
})

const connectFromCatalog = buildTool({
  name: 'connect_from_catalog',
  title: 'Connect a ready API',
  description:
    'Adds the API, tables and queries of an entry of the catalog and loads the tables. Queries become drafts; release makes them answer. Secrets are not taken here: where one is missing, the answer says which variable a person sets in the app.',
  input: z.strictObject({
    entry: z.string().max(100),
    inputs: z.record(z.string(), z.string().max(1_000)).default({}),
    prefix: slug.optional().meta({ description: 'How its tables and queries begin, to add it a second time.' }),
  }),
  act: 'writes',
  run: async (operations, { entry: name, inputs, prefix: wanted }, signal) => {
    const found = (await operations.catalog()).find((each) => each.name === name)
    if (found === undefined) throw invalidField('entry', 'is no entry of the catalog: list_catalog names them')
    const { entry } = found
    const isSecret = (input: string): boolean => entry.inputs?.[input]?.secret === true
    const given = Object.keys(inputs).find((input) => isSecret(input) || entry.inputs?.[input] === undefined)
    if (given !== undefined) {
      const problem = isSecret(given) ? 'is a secret: a person sets it in the app' : 'is no input of this entry'
      throw invalidField(`inputs.${given}`, problem)
    }
    const missing = missingInputs(entry, inputs).filter((input) => !isSecret(input))
    if (missing.length > 0) throw invalidField(`inputs.${missing[0]}`, 'is required')
    const prefix = wanted ?? usualPrefix(name)
    const { variables, ...made } = definitionOf(name, entry, { prefix, values: inputs })
    const there = new Set((await operations.list<{ name: string }>('/variables')).map((each) => each.name))
    const needed = variables.filter((variable) => !there.has(variable.name))
    if (needed.length > 0) {
      return {
        connected: false,
        needs_secrets: needed.map(({ name: variable, origins }) => ({ variable, sent_to: origins })),
        next: `A person sets these under Settings, Variables${entry.credentials === undefined ? '' : ` (${entry.credentials})`}. Then call this again.`,
      }
    }
    const { queries, ...connections } = made
    const put = (part: object) => operations.send<Put>('PUT', '/definition?prune=false', { definition: 1, ...part })
    const { jobs } = await put(connections)
    const tables = await followed(operations, jobs, signal)
    // SQL is checked against the columns that came: where a load failed, its queries wait for another call.
    const failed = tables.filter(({ status }) => status !== 'succeeded').map((each) => each.table)
    if (failed.length > 0) {
      const next = `${failed.join(', ')}: wait where a load runs still, mend what failed, and call this again for the queries.`
      return { connected: true, tables, drafts: [], next }
    }
    await put(made)
    return { connected: true, tables, drafts: queries.map((each) => each.name) }
  },
})

const connectFromDocument = buildTool({
  name: 'connect_from_openapi',
  title: 'Connect an API by its OpenAPI document',
  description:
    'Reads an OpenAPI document or Postman collection. Without operation it lists the operations; with one it makes a table of its answer and loads it.',
  input: z.strictObject({
    url: z.url().max(2_000).optional(),
    text: z.string().min(1).max(fixedLimits.importChars.value).optional(),
    operation: z.string().max(1_000).optional(),
    table: table.optional().meta({ description: 'The table that SQL reads; needed with operation.' }),
  }),
  act: 'writes',
  run: async (operations, { table: name, ...asked }, signal) => {
    const { operations: all, truncated, connection } = await operations.send<Imported>('POST', '/v1/http/import', asked)
    if (connection === null)
      return { operations: all.slice(0, maxOperations), truncated: truncated || all.length > maxOperations }
    if (name === undefined) throw invalidField('table', 'is required with operation')
    const { configuration: config, pagination, notes } = connection
    return { ...(await connect(operations, { name, config, pagination }, signal)), notes }
  },
})

const connectFromCurl = buildTool({
  name: 'connect_from_curl',
  title: 'Connect an API by a curl command',
  description: 'Makes a table of the answer of a request that is written as a curl command, and loads it.',
  input: z.strictObject({ command: z.string().min(1).max(fixedLimits.curlChars.value), table }),
  act: 'writes',
  run: async (operations, { command, table: name }, signal) => {
    type Read = { configuration: Record<string, unknown>; notes: string[] }
    const { configuration, notes } = await operations.send<Read>('POST', '/v1/http/import-curl', { command })
    return { ...(await connect(operations, { name, config: configuration, pagination: null }, signal)), notes }
  },
})

const loadTable = buildTool({
  name: 'load_table',
  title: 'Load a table',
  description: 'Fetches the data of a table again and waits up to 40 s for it.',
  input: z.strictObject({ table }),
  act: 'writes',
  run: async (operations, { table: name }, signal) => {
    const [loaded] = await load(operations, [name], signal)
    return { ...loaded }
  },
})

type Connection = { name: string; config: Record<string, unknown>; pagination: unknown }

async function connect(operations: Operations, { name, config, pagination }: Connection, signal: AbortSignal) {
  await operations.send('POST', '/datasources', {
    name,
    kind: 'http_api',
    table_name: name,
    config,
    ...(pagination !== null && pagination !== undefined && { pagination }),
  })
  const [loaded] = await load(operations, [name], signal)
  return { ...loaded }
}

type Put = { jobs: Array<{ id: string; table_name: string }> }
type Loaded = { table: string; job_id: string; status: string; error?: unknown; details?: unknown }

/** Loads tables at once and waits for them. */
async function load(operations: Operations, tables: string[], signal: AbortSignal): Promise<Loaded[]> {
  const sources = await operations.list<Datasource>('/datasources')
  const jobs = tables.map(async (name) => {
    const source = sources.find((each) => each.table_name === name)
    if (source === undefined) throw invalidField('table', `is no table of this project: ${name}`)
    const { id } = await operations.send<Job>('POST', `/datasources/${source.id}/refresh`, {})
    return { id, table_name: name }
  })
  return followed(operations, await Promise.all(jobs), signal)
}

function followed(operations: Operations, jobs: Put['jobs'], signal: AbortSignal): Promise<Loaded[]> {
  return Promise.all(
    jobs.map(async ({ id, table_name: name }) => {
      const { status, error, details } = await operations.ended(id, signal)
      const said = { ...(Boolean(error) && { error }), ...(Boolean(details) && { details }) }
      return { table: name, job_id: id, status, ...said }
    }),
  )
}

export const connectTools: BuildTool[] = [
  listCatalog,
  connectFromCatalog,
  connectFromDocument,
  connectFromCurl,
  loadTable,
]
