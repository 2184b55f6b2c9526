import type { z } from 'zod'
import type { Definition } from '../../../api/definition.ts'
import type { datasource } from '../../../api/datasources.ts'
import type { Context } from '../../context/context.ts'
import { CommandFailure } from '../../terminal/exit.ts'
import { finalStates, followJob, type Job } from '../../context/follow-job.ts'

type Datasource = z.output<typeof datasource>
/** The first load of a table. */
export type Loaded = { table: string; job: Job }
type Begun = Array<{ id: string; table_name: string }>

/**
 * Queries over a new table can only be released once it has rows. Loads go on where an earlier release left them, and a
 * table that asks for each row of another comes after that other one.
 */
export async function awaitFirstLoads(
  context: Context,
  { definition, begun }: { definition: Definition; begun: Begun },
): Promise<Loaded[]> {
  const models = (definition.models ?? []).map(({ name }) => name)
  const named = new Set([...(definition.connections ?? []).map((each) => each.table_name), ...models])
  if (named.size === 0) return []
  const [manage, projectId] = [await context.manage(), await context.projectId()]
  const all = await manage.list<Datasource>(`/v1/projects/${projectId}/datasources`)
  const jobs = new Map(begun.map(({ id, table_name: table }) => [table, id]))
  let empty = all.filter(
    ({ table_name: table, kind, config, refreshed_at: refreshedAt }) =>
      named.has(table) && kind === 'http_api' && config !== null && refreshedAt === null,
  )
  const loaded: Loaded[] = []
  while (empty.length > 0) {
    const names = new Set(empty.map(({ table_name: table }) => table))
    const ready = empty.filter(({ for_each: each }) => each === null || !names.has(each['table'] as string))
    // A circle of tables is refused when it is defined; whatever is left then has nothing to wait for.
    const next = ready.length > 0 ? ready : empty
    const ids = await Promise.all(next.map((each) => loadOf(context, each, jobs.get(each.table_name))))
    for (const [at, { table_name: table }] of next.entries()) {
      const job = await followJob(context, ids[at] ?? '', table)
      refuseFailed(`connections/${table}.yaml`, table, job)
      loaded.push({ table, job })
    }
    empty = empty.filter((each) => !next.includes(each))
  }
  const built = await awaitFirstBuilds(context, models)
  const early = begun.filter(({ table_name: table }) => ![...loaded, ...built].some((each) => each.table === table))
  return [...loaded, ...built, ...(await Promise.all(early.map((each) => endedJob(context, each))))]
}

/** The job of a model that was built before anybody waited for it. */
async function endedJob(context: Context, { id, table_name: table }: Begun[number]): Promise<Loaded> {
  const manage = await context.manage()
  return { table, job: await manage.get<Job>(`/v1/jobs/${encodeURIComponent(id)}`) }
}

/** A job of a model may find that those below it come first. */
const maxTurns = 5

/** Models are built once their tables have data, each by a job that the end of another one begins. */
async function awaitFirstBuilds(context: Context, models: string[]): Promise<Loaded[]> {
  const [manage, projectId] = [await context.manage(), await context.projectId()]
  const built = new Map<string, Job>()
  for (let turn = 0; turn <= models.length * maxTurns; turn += 1) {
    const all = await manage.list<Datasource>(`/v1/projects/${projectId}/datasources`)
    const next = all.filter(({ table_name: name, kind, refreshed_at: refreshedAt }) => {
      const isOurs = kind === 'model' && models.includes(name)
      return isOurs && refreshedAt === null
    })
    const jobs = await manage.list<Job>(`/v1/projects/${projectId}/jobs`, { status: 'queued' })
    const running = await manage.list<Job>(`/v1/projects/${projectId}/jobs`, { status: 'running' })
    const waiting = next.find(({ id }) => [...running, ...jobs].some((job) => job.source_id === id))
    const [first] = waiting === undefined ? next : [waiting]
    if (first === undefined) break
    const job = await followJob(context, await loadOf(context, first, undefined), first.table_name)
    // A model that waits for others comes with a job of its own.
    const isEarly = job.status === 'failed' && running.some(({ source_id: id }) => id !== first.id)
    if (isEarly) continue
    refuseFailed(`models/${first.table_name}.sql`, first.table_name, job)
    built.set(first.table_name, job)
  }
  return [...built].map(([table, job]) => ({ table, job }))
}

/** The load that is under way, or a new one. */
async function loadOf(context: Context, { id }: Datasource, begun: string | undefined): Promise<string> {
  if (begun !== undefined) return begun
  const [manage, projectId] = [await context.manage(), await context.projectId()]
  const [newest] = await manage.list<Job>(`/v1/projects/${projectId}/jobs`, { source_id: id }, 1)
  if (newest !== undefined && !finalStates.has(newest.status)) return newest.id
  return (await manage.send<Job>('POST', `/v1/projects/${projectId}/datasources/${id}/refresh`, {})).id
}

function refuseFailed(file: string, table: string, job: Job): void {
  if (job.status === 'succeeded') return
  const isModel = file.startsWith('models/')
  const trial = isModel ? '' : `; \`sluice test-connection ${table}\` tries it`
  throw new CommandFailure(
    'negative',
    `${table} was not ${isModel ? 'built' : 'loaded'}: ${job.error?.message ?? job.status}`,
    {
      hint: `The definition is in place, and no query was released. Mend ${file} and release again${trial}.`,
      fields: { job },
    },
  )
}
