import { Command } from 'commander'
import type { z } from 'zod'
import { setTimeout as wait } from 'node:timers/promises'
import type { replay, replayCallEntry } from '../../api/replays.ts'
import { does } from '../command.ts'
import type { Context } from '../context.ts'
import { CommandFailure } from '../exit.ts'
import { environmentOf } from './plan.ts'
import { timeText } from './texts.ts'

export type Replay = z.output<typeof replay>
type Entry = z.output<typeof replayCallEntry>
type Options = { environment?: string; timeout?: string }

const pollMs = 500
const shownCalls = 5
/** How long a release waits for what its replay says. */
export const replayWaitMs = 600_000

export function replayCommand(): Command {
  const command = new Command('replay')
    .summary('run recorded calls on saved queries beside what answers')
    .description(
      'Recent calls of the environment are run on the saved queries and on what answers, and their rows compared; callers notice nothing. The project must record its calls (Settings, or PUT …/replay-settings). `sluice release` does it by itself before it releases.',
    )
    .option('-e, --environment <name>', 'whose calls')
    .option('--timeout <seconds>', 'how long to wait for it', '600')
  return does<Options>(command, run)
}

async function run(context: Context, options: Options): Promise<void> {
  const [manage, projectId] = [await context.manage(), await context.projectId()]
  const body = { environment: environmentOf(context, options), queries: 'all' }
  const started = await manage.send<Replay>('POST', `/v1/projects/${projectId}/replays`, body)
  const done = await finishedReplay(context, started, Number(options.timeout ?? '600') * 1000)
  if (context.json) context.printJson(done)
  else context.print(await replayText(context, done))
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

/** What recorded calls said, and the first of those that differ. */
export async function replayText(context: Context, done: Replay): Promise<string> {
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
    }
  }
  return lines.join('\n')
}

/** What a script says with --stop-on-differences. */
export function refuseDifferences(done: Replay): void {
  if (!hasDifferences(done)) return
  throw new CommandFailure('refused', `Not released: ${done.summary}`, {
    hint: 'The drafts are saved; nothing answers otherwise yet.',
    fields: { replay: done },
  })
}
