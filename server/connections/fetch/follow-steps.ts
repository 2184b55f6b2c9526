import type { HttpConfiguration } from '../../../api/connections.ts'
import { retryAfterMs } from '../outbound/retry.ts'
import { noStepsDone, standing, stepRequest, wantedOf, withAnswer, type StepsState } from '../request/steps.ts'
import type { Moment } from '../request/variables.ts'
import { errorPaths, errorsIn, hasNoData } from './whole.ts'
import type { PageValues } from '../../engine/index.ts'

type Answer = { status: number; headers: Record<string, string>; url: string }
/** An answer with what stands at the paths that were asked for. */
type Read<Sent> = { sent: Sent } & Pick<PageValues, 'outline' | 'values'>

type StepIo<Sent> = {
  /** Null where no answer came, and whoever calls knows why. */
  call(configuration: HttpConfiguration, paths: string[]): Promise<Read<Sent> | null>
  leftMs(): number
  wait(ms: number): Promise<void>
  nowMs(): number
  save?(state: StepsState): Promise<void>
}

/** `late`: what a step waits for takes longer than there is time. */
type Stopped<Sent> = { kind: 'refused'; sent: Sent } | { kind: 'failed' | 'late'; sent: Sent; message: string }
type Followed<Sent> =
  | { kind: 'ready'; configuration: HttpConfiguration; state: StepsState }
  | { kind: 'unanswered' }
  | Stopped<Sent>

type Following = { template: HttpConfiguration; moment: Omit<Moment, 'answers'>; resumed?: StepsState | undefined }

const usualSeconds = 5
const longestWaitMs = 3_600_000

/** Makes the requests before the one for rows, waits where a step says so, and answers with the one for rows. */
export async function followSteps<Sent extends Answer>(
  { template, moment, resumed }: Following,
  io: StepIo<Sent>,
): Promise<Followed<Sent>> {
  const { steps = [] } = template
  let state = resumed ?? noStepsDone
  while (state.done < steps.length) {
    const configuration = stepRequest(template, moment, state)
    const { paths } = wantedOf(template, state.done)
    const read = await io.call(configuration, [...paths, ...errorPaths])
    if (read === null) return { kind: 'unanswered' }
    const { sent, outline, values } = read
    if (sent.status < 200 || sent.status > 299) {
      // The export of an earlier attempt is gone: another is started.
      if (resumed === undefined || state !== resumed) return { kind: 'refused', sent }
      return followSteps({ template, moment }, io)
    }
    const { host } = new URL(sent.url)
    const errors = outline !== null && hasNoData(outline) ? errorsIn(outline, values) : null
    if (errors !== null) return { kind: 'failed', sent, message: `${host} answered with an error: ${errors}` }
    const step = steps[state.done - 1]
    const found = standing(step, { status: sent.status, values, headers: sent.headers })
    if (found.kind === 'failed') {
      const message = `${host} says that the export has failed: ${step?.until?.path ?? ''} is ${found.value.slice(0, 100)}.`
      return { kind: 'failed', sent, message }
    }
    if (found.kind === 'done') {
      state = withAnswer(state, { values, headers: sent.headers }, template)
      await io.save?.(state)
      continue
    }
    const askedMs = retryAfterMs(sent.headers['retry-after'], io.nowMs()) ?? 0
    const waitMs = Math.min(longestWaitMs, Math.max(askedMs, (step?.until?.every_seconds ?? usualSeconds) * 1_000))
    if (waitMs >= io.leftMs()) return { kind: 'late', sent, message: lateMessage(host, step?.until?.path, values) }
    await io.wait(waitMs)
  }
  return { kind: 'ready', configuration: stepRequest(template, moment, state), state }
}

function lateMessage(host: string, path: string | undefined, values: Record<string, unknown>): string {
  const value = path === undefined ? undefined : values[path]
  const isPlain = ['string', 'number', 'boolean'].includes(typeof value)
  const now = isPlain ? `: ${path} is ${String(value).slice(0, 100)}` : ''
  return `The export of ${host} is not ready yet${now}.`
}
