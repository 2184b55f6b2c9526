import { Command } from 'commander'
import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { does } from '../../context/command.ts'
import type { Context } from '../../context/context.ts'
import { readFiles } from '../../context/files.ts'
import { withQuery } from '../../service/manage.ts'
import { printDoubts } from '../../context/follow-job.ts'
import { awaitFirstLoads, type Loaded } from './first-loads.ts'
import {
  definitionOf,
  environmentOf,
  failureInFiles,
  isEmpty,
  makePlan,
  pruneOf,
  refuseUnreleasable,
  refuseShared,
  sharedTables,
  showPlan,
  type Planned,
} from './plan.ts'
import { releaseText, type Plan, type Release } from './plan-text.ts'
import { agree } from './promote.ts'
import { finishedReplay, hasDifferences, refuseDifferences, replayText, replayWaitMs } from './replay.ts'
import { trialOf, type TrialOptions } from './trial-options.ts'

export type ReleaseOptions = {
  environment?: string
  yes?: boolean
  force?: boolean
  prune?: boolean
  shared?: boolean
  wait?: boolean
  only?: string[]
  message?: string
  commit?: string
  stopOnDifferences?: boolean
} & TrialOptions

export function releaseCommand(): Command {
  const command = new Command('release')
    .description(
      'Shows the plan, asks, applies the definition and releases every query that changed: all of them or none, and callers see the old set or the new one. Safe to repeat: where nothing differs, nothing happens.',
    )
    .option('-e, --environment <name>', 'where to release')
    .option('-y, --yes', 'do not ask')
    .option('-m, --message <text>', 'why, for the history')
    .option('--commit <revision>', 'the revision of the files; of a git checkout it is known')
    .option('--only <queries...>', 'only these queries, and nothing else of the files')
    .option('--force', 'although something breaks callers, takes questions of other queries, or fails its tests')
    .option('--shared', 'also where it changes tables that other environments read')
    .option('--no-wait', 'do not wait for the first load of new tables')
    .option('--prune', 'also delete tables that the files do not name, with their data')
    .option('--no-prune', 'leave alone what the files do not name')
    .option('--stop-on-differences', 'do not release what answers recorded calls otherwise')
    .option('--canary <percent>', 'give it to this share of the keys first')
    .option('--step <percent/time>', 'let the canary grow by itself: 20/10m')
    .option('--roll-back-on <rules>', 'roll the canary back by itself: errors=0.05,p95=2,differences=0.01')
    .option('--shadow', 'run alongside, compare, serve nothing')
  return does<ReleaseOptions>(command, release)
}

async function release(context: Context, options: ReleaseOptions): Promise<void> {
  // A wrong option is told before anybody is asked for anything.
  trialOf(options)
  const environment = environmentOf(context, options)
  const prune = pruneOf(options)
  const planned = await makePlan(context, { environment, prune, only: options.only })
  if (!context.json) {
    showPlan(context, planned)
    context.print('')
  }
  if (isEmpty(planned)) {
    if (context.json) context.printJson({ plan: planned.plan, release: null })
    else context.print(`${context.style.good('✓')} ${environment} is as the files say.`)
    return
  }
  refuseUnreleasable(planned, { force: options.force === true, way: '--force releases anyway.' })
  refuseShared(planned, options)
  if (options.yes !== true) await agree(context, questionOf(context, planned))
  const done = await apply(context, { environment, prune, options })
  if (context.json)
    context.printJson({ plan: done.plan, loads: done.loaded.map(({ job }) => job), release: done.release })
  else await report(context, done)
}

function questionOf({ noteStyle }: Context, planned: Planned): string {
  const environments = new Set(sharedTables(planned).flatMap(({ readers }) => readers.map((each) => each.environment)))
  const also = environments.size === 0 ? '' : `, and change tables of ${[...environments].join(', ')}`
  return `Release this to ${noteStyle.bold(planned.environment)}${also}?`
}

type Done = {
  plan: Plan
  loaded: Loaded[]
  release: Release
}

/** Applies the files and releases what they changed. Doing it again goes on where it ended. */
export async function apply(
  context: Context,
  { environment, prune, options }: { environment: string; prune: ReturnType<typeof pruneOf>; options: ReleaseOptions },
): Promise<Done> {
  const definition = await definitionOf(context, options.only)
  const [manage, projectId] = [await context.manage(), await context.projectId()]
  const progress = context.progress()
  try {
    progress.show(null, 'applying the definition')
    const path = `/v1/projects/${projectId}/definition`
    const plan = await manage.send<Plan>(
      'PUT',
      withQuery(path, { prune, environment, force: options.force === true }),
      definition,
    )
    progress.end()
    const loaded = options.wait === false ? [] : await awaitFirstLoads(context, { definition, begun: plan.jobs })
    const done = await releaseDrafts(context, environment, options).catch(async (error: unknown) => {
      throw failureInFiles(error, await readFiles(context.folder))
    })
    return { plan, loaded, release: done }
  } finally {
    progress.end()
  }
}

function drafts({ only }: ReleaseOptions): 'all' | Array<{ name: string }> {
  return only === undefined ? 'all' : only.map((name) => ({ name }))
}

async function releaseDrafts(context: Context, environment: string, options: ReleaseOptions): Promise<Release> {
  await tryRecordedCalls(context, environment, options)
  const [manage, projectId] = [await context.manage(), await context.projectId()]
  const progress = context.progress()
  progress.show(null, 'releasing')
  try {
    const commit = options.commit ?? (await gitRevision(context.folder))
    return await manage.send<Release>('POST', `/v1/projects/${projectId}/releases`, {
      environment,
      queries: drafts(options),
      force: options.force === true,
      ...(options.message !== undefined && { message: options.message }),
      ...(commit !== undefined && { commit }),
      ...trialOf(options),
    })
  } finally {
    progress.end()
  }
}

/** Where the project records calls: what they would be answered with. Asks once more where that is something else. */
async function tryRecordedCalls(context: Context, environment: string, options: ReleaseOptions): Promise<void> {
  const [manage, projectId] = [await context.manage(), await context.projectId()]
  const checked = await manage.send<Release>('POST', `/v1/projects/${projectId}/releases`, {
    environment,
    queries: drafts(options),
    check: true,
  })
  if (checked.replay === null) return
  const done = await finishedReplay(context, checked.replay, replayWaitMs)
  if (!context.json) context.print(`${await replayText(context, done)}\n`)
  if (options.stopOnDifferences === true) refuseDifferences(done)
  if (hasDifferences(done) && options.yes !== true) await agree(context, 'Release anyway?')
}

async function report(context: Context, { plan, loaded, release: done }: Done): Promise<void> {
  const { print, style } = context
  for (const { target, alert, secret } of plan.secrets) {
    print(`  The secret of ${target} of the alert “${alert}”, shown once: ${style.bold(secret)}`)
  }
  for (const { table, job } of loaded) {
    print(`  ${table} is loaded.`)
    await printDoubts(context, job)
  }
  for (const { table_name: name, id } of plan.jobs) {
    if (!loaded.some(({ table }) => table === name)) print(`  ${name} is being loaded: sluice jobs watch ${id}`)
  }
  if (done.id === null) {
    print(`${style.good('✓')} The definition is applied; no query changed.`)
    return
  }
  print(releaseText(done, style))
  const what = { canary: 'takes a share of the calls of', shadow: 'runs alongside the calls of' } as const
  const verb = done.status === 'canary' || done.status === 'shadow' ? what[done.status] : 'answers in'
  print('')
  print(
    `${style.good('✓')} Release ${style.bold(done.id)} ${verb} ${done.environment}. Back: sluice rollback ${done.id}`,
  )
}

const run = promisify(execFile)

/** The revision of the files, where they are in git and nothing differs from it. */
async function gitRevision(folder: string): Promise<string | undefined> {
  const git = async (...args: string[]): Promise<string> =>
    (await run('git', ['-C', folder, ...args], { timeout: 5_000 })).stdout.trim()
  try {
    const revision = await git('rev-parse', 'HEAD')
    const isDirty = (await git('status', '--porcelain', '--', '.')) !== ''
    return isDirty ? `${revision}-dirty` : revision
  } catch {
    return undefined
  }
}
