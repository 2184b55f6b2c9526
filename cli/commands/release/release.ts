import { Command } from 'commander'
import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { does } from '../../context/command.ts'
import { readDefinition, type Context } from '../../context/context.ts'
import { CommandFailure } from '../../terminal/exit.ts'
import { withQuery } from '../../service/manage.ts'
import { environmentOf, isEmpty, makePlan, pendingText, type Planned } from '../plan.ts'
import { planText, releaseText, type Plan, type Release } from './plan-text.ts'
import { agree } from './promote.ts'
import { finishedReplay, hasDifferences, refuseDifferences, replayText, replayWaitMs } from './replay.ts'
import { trialOf, type TrialOptions } from './trial-options.ts'

export type ReleaseOptions = {
  environment?: string
  yes?: boolean
  force?: boolean
  prune?: boolean
  message?: string
  commit?: string
  stopOnDifferences?: boolean
} & TrialOptions

export function releaseCommand(): Command {
  const command = new Command('release')
    .summary('put the files in place and release them as one')
    .description(
      'Shows the plan, asks, puts the definition in place and releases every query that changed: all of them or none, and callers see the old set or the new one. Safe to repeat: where nothing differs, nothing happens.',
    )
    .option('-e, --environment <name>', 'where to release')
    .option('-y, --yes', 'do not ask')
    .option('-m, --message <text>', 'why, for the history')
    .option('--commit <revision>', 'the revision of the files; of a git checkout it is known')
    .option('--force', 'although something breaks callers, or takes questions of other queries')
    .option('--no-prune', 'leave alone what the files do not name')
    .option('--stop-on-differences', 'do not release what answers recorded calls otherwise')
    .option('--canary <percent>', 'give it to this share of the keys first')
    .option('--step <percent/time>', 'let the canary grow by itself: 20/10m')
    .option('--roll-back-on <rules>', 'take the canary back by itself: errors=0.05,p95=2,differences=0.01')
    .option('--shadow', 'run it behind the calls and compare, without answering')
  return does<ReleaseOptions>(command, release)
}

async function release(context: Context, options: ReleaseOptions): Promise<void> {
  // A wrong option is told before anybody is asked for anything.
  trialOf(options)
  const environment = environmentOf(context, options)
  const prune = options.prune ?? true
  const planned = await makePlan(context, { environment, prune })
  if (!context.json) {
    context.print(`\nPlan for ${context.style.bold(environment)}\n`)
    context.print(planText(planned.plan, context.style))
    if (planned.pending.length > 0) context.print(pendingText(planned.pending))
    context.print('')
  }
  if (isEmpty(planned)) {
    if (context.json) context.printJson({ plan: planned.plan, release: null })
    else context.print(`${context.style.good('✓')} ${environment} is as the files say.`)
    return
  }
  refuseBreaking(planned, options)
  if (options.yes !== true) await agree(context, `Release this to ${context.noteStyle.bold(environment)}?`)
  const done = await apply(context, { environment, prune, options })
  if (context.json) context.printJson({ plan: done.plan, release: done.release })
  else tell(context, done)
}

type Done = { plan: Plan; release: Release }

/** Puts the files in place and releases what they changed. Doing it again goes on where it ended. */
export async function apply(
  context: Context,
  { environment, prune, options }: { environment: string; prune: boolean; options: ReleaseOptions },
): Promise<Done> {
  const { definition } = await readDefinition(context)
  const [manage, projectId] = [await context.manage(), await context.projectId()]
  const progress = context.progress()
  try {
    progress.show(null, 'putting the definition in place')
    const path = `/v1/projects/${projectId}/definition`
    const plan = await manage.send<Plan>('PUT', withQuery(path, { prune, environment }), definition)
    progress.end()
    await tryRecordedCalls(context, environment, options)
    progress.show(null, 'releasing')
    const commit = options.commit ?? (await gitRevision(context.folder))
    const done = await manage.send<Release>('POST', `/v1/projects/${projectId}/releases`, {
      environment,
      queries: 'all',
      force: options.force === true,
      ...(options.message !== undefined && { message: options.message }),
      ...(commit !== undefined && { commit }),
      ...trialOf(options),
    })
    return { plan, release: done }
  } finally {
    progress.end()
  }
}

/** Where the project records calls: what they would be answered with. Asks once more where that is something else. */
async function tryRecordedCalls(context: Context, environment: string, options: ReleaseOptions): Promise<void> {
  const [manage, projectId] = [await context.manage(), await context.projectId()]
  const checked = await manage.send<Release>('POST', `/v1/projects/${projectId}/releases`, {
    environment,
    queries: 'all',
    check: true,
  })
  if (checked.replay === null) return
  const done = await finishedReplay(context, checked.replay, replayWaitMs)
  if (!context.json) context.print(`${await replayText(context, done)}\n`)
  if (options.stopOnDifferences === true) refuseDifferences(done)
  if (hasDifferences(done) && options.yes !== true) await agree(context, 'Release it all the same?')
}

/** Before anything is changed: the service would refuse the release and leave the drafts behind. */
function refuseBreaking({ plan }: Planned, { force }: ReleaseOptions): void {
  const impossible = plan.plan.flatMap(({ name, refused }) => (refused === null ? [] : [`${name}: ${refused.message}`]))
  if (impossible.length > 0) {
    throw new CommandFailure('refused', ['This cannot be applied.', ...impossible].join('\n  '), { fields: { plan } })
  }
  const breaking = plan.plan.filter((entry) => entry.release?.compatibility === 'breaking')
  const moved = plan.routing?.regressions.length ?? 0
  if (force === true || (breaking.length === 0 && moved === 0)) return
  const reasons = [
    ...(breaking.length === 0 ? [] : [`${breaking.map(({ name }) => name).join(', ')} would break callers`]),
    ...(moved === 0 ? [] : [`${moved} stored ${moved === 1 ? 'question' : 'questions'} would move`]),
  ]
  throw new CommandFailure('refused', `Not released: ${reasons.join(', and ')}.`, {
    hint: 'Nothing was changed. --force releases it all the same.',
    fields: { plan },
  })
}

export function tell(context: Context, { plan, release: done }: Done): void {
  const { print, style } = context
  for (const { target, alert, secret } of plan.secrets) {
    print(`  The secret of ${target} of the alert “${alert}”, shown once: ${style.bold(secret)}`)
  }
  for (const { table_name: name, id } of plan.jobs) print(`  ${name} is being loaded: sluice jobs watch ${id}`)
  if (done.id === null) {
    print(`${style.good('✓')} The definition is in place; no query changed.`)
    return
  }
  print(releaseText(done, style))
  const what = { canary: 'takes a share of the calls of', shadow: 'runs behind the calls of' } as const
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
