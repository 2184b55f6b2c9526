import { Command } from 'commander'
import type { z } from 'zod'
import { setTimeout as wait } from 'node:timers/promises'
import type { replay, replayCall, replayCallEntry } from '../../../api/replays.ts'
import { does } from '../../context/command.ts'
import type { Context } from '../../context/context.ts'
import { CommandFailure } from '../../terminal/exit.ts'
import { environmentOf } from './plan.ts'
import { timeText } from '../../terminal/texts.ts'

export type Replay = z.output<typeof replay>
type Entry = z.output<typeof replayCallEntry>
type Call = z.output<typeof replayCall>
type Options = { environment?: string; timeout?: string; details?: boolean }

const pollMs = 500
const shownCalls = 5
const shownRows = 3
const maxValueChars = 200
/** How long a release waits for what its replay says. */
export const replayWaitMs = 600_000

export function replayCommand(): Command {
  const command = new Command('replay')
    .description(
      'Recent calls of the environment are run on the saved queries and on what answers, and their rows compared; callers notice nothing. The project must record its calls: `settings: { replay: { recording: true } }` in sluice.yaml, or in the app under Settings, Retention. `sluice release` does it by itself before it releases.',
    )
    .option('-e, --environment <name>', 'whose calls')
    .option('--details', 'show of the first calls that differ what they were called with and what changed')
    .option('--timeout <seconds>', 'how long to wait for it', '600')
  return does<Options>(command, run)
}

async function run(context: Context, options: Options): Promise<void> {
  const [manage, projectId] = [await context.manage(), await context.projectId()]
  const body = { environment: environmentOf(context, options), queries: 'all' }
  const started = await manage.send<Replay>('POST', `/v1/projects/${projectId}/replays`, body)
  const done = await finishedReplay(context, started, Number(options.timeout ?? '600') * 1000)
  if (context.json) context.printJson(done)
  else context.print(await replayText(context, done, options.details === true))
}

/** Waits until every call was run, showing how far it is; what is not finished in time is told as it stands. */
export async function finishedReplay(context: Context, started: Replay, maxMs: number): Promise<Replay> {
  const [manage, projectId] = [await context.manage(), await context.projectId()]
  const progress = context.progress()
  try {
    let state = started
    for (const endMs = performance.now() + maxMs; state.status === 'running' && performance.now() < endMs;) {
      const share = state.recorded === null || state.recorded === 0 ? null : state.calls / state.recorded
      progress.show(share, 'running recorded calls on both versions')
      await wait(pollMs)
      state = await manage.get<Replay>(`/v1/projects/${projectId}/replays/${encodeURIComponent(state.id)}`)
    }
    return state
  } finally {
    progress.end()
  }
}

/** Whether it would answer some calls otherwise. */
export function hasDifferences({ different, failed }: Replay): boolean {
  return different > 0 || failed > 0
}

/** The result of a replay, and the first calls that differ. */
export async function replayText(context: Context, done: Replay, isDetailed = false): Promise<string> {
  const { style } = context
  const isSame = !hasDifferences(done)
  const lines = [`  ${isSame ? style.good('✓') : style.warn('!')} ${done.summary}`]
  if (done.status === 'running') lines.push(style.warn('    It is not finished; these are the calls so far.'))
  if (isSame) return lines.join('\n')
  const [manage, projectId] = [await context.manage(), await context.projectId()]
  const path = `/v1/projects/${projectId}/replays/${encodeURIComponent(done.id)}/calls`
  for (const outcome of ['failed', 'different'] as const) {
    for (const call of await manage.list<Entry>(path, { outcome }, shownCalls)) {
      lines.push(`      ${call.query}, ${timeText(call.called_at)}: ${outcome}  ${style.dim(call.id)}`)
      if (isDetailed) lines.push(...detailLines(await manage.get<Call>(`${path}/${encodeURIComponent(call.id)}`)))
    }
  }
  if (!isDetailed) lines.push(style.dim('      sluice replay --details shows what changed; the app opens them all.'))
  return lines.join('\n')
}

/** The values of a call, and the first rows that differ. */
function detailLines({ parameters, redacted, before, after, comparison, because }: Call): string[] {
  const values = [
    ...Object.entries(parameters).map(([name, value]) => `${name}=${valueText(value)}`),
    ...redacted.map((name) => `${name} not recorded`),
  ]
  const errors = [
    ...(before !== null && 'error' in before ? [`before: ${before.error.message}`] : []),
    ...(after !== null && 'error' in after ? [`after: ${after.error.message}`] : []),
  ]
  const rows = (comparison?.sample ?? []).slice(0, shownRows).map((each) => {
    if (each.kind === 'added') return `+ ${valueText(each.after)}`
    if (each.kind === 'removed') return `- ${valueText(each.before)}`
    const key = (comparison?.key ?? []).map((name) => `${name}=${valueText(each.after?.[name])}`).join(', ')
    const cells = (each.columns ?? []).map(
      (name) => `${name}: ${valueText(each.before?.[name])} → ${valueText(each.after?.[name])}`,
    )
    return `~ ${[...(key === '' ? [] : [key]), ...cells].join('  ')}`
  })
  const all = [values.length === 0 ? 'without values' : values.join(' '), ...errors, ...rows]
  return [...all, ...(because === null ? [] : [because])].map((line) => `        ${line}`)
}

function valueText(value: unknown): string {
  const text = typeof value === 'string' ? value : (JSON.stringify(value) ?? 'null')
  return text.length > maxValueChars ? `${text.slice(0, maxValueChars)}…` : text
}

/** The refusal for --stop-on-differences. */
export function refuseDifferences(done: Replay): void {
  if (!hasDifferences(done)) return
  throw new CommandFailure('refused', `Not released: ${done.summary}`, {
    hint: 'The drafts are saved; nothing answers otherwise yet.',
    fields: { replay: done },
  })
}
