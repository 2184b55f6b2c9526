import { setTimeout as wait } from 'node:timers/promises'
import { Failure } from '../../failure.ts'
import { askChild, endEncoderChild, openEncoderChild, type EncoderChild } from './encoder-child.ts'

/** The tokens of a text to be encoded, or of a question, so many of them, to be read beside a card. */
export type Tokens = { questionTokens: number; ids: number[] }

type ChildrenOptions = {
  count: number
  /** Arguments of each process. */
  args: string[]
  /** Throws where the models are no longer those that this code was learned with. */
  verify: () => Promise<void>
  queueLength: number
  /** A process that owes an answer and says nothing for so long is replaced. */
  silenceMs: number
  /** How long nobody asks until the processes are ended; 0: never. */
  restAfterMs: number
  /** Hears of a process that ended by itself, and once of what keeps another from taking its place. */
  onFault: (error: unknown) => void
}

export type EncoderChildren = {
  submit: (tokens: Tokens) => Promise<Float32Array>
  isDown: () => boolean
  close: () => Promise<void>
}

const reopenMs = 1_000
const maxId = 0xff_ff_ff_ff

/**
 * The processes of the encoder. One that is lost is begun anew; when nobody asks for a while all are ended, 75 MB each,
 * and whoever asks next waits for one of them to open.
 */
// Over 70 lines: what it returns shares the processes and their trouble.
export async function openEncoderChildren(options: ChildrenOptions): Promise<EncoderChildren> {
  const { args, queueLength, silenceMs, restAfterMs, onFault } = options
  const closing = new AbortController()
  const places = Array.from({ length: Math.max(1, options.count) }, (_, place) => place)
  const children: EncoderChild[] = []
  let lastId = 0
  let trouble: unknown = null
  let usedAtMs = 0
  /** Set while nothing runs because nobody asks: resolves when the last has ended. */
  let resting: Promise<unknown> | null = null
  let waking: Promise<void> | null = null

  const open = (): Promise<EncoderChild> =>
    openEncoderChild(args, (error, lost) => {
      const place = children.indexOf(lost)
      if (closing.signal.aborted || resting !== null || place < 0) return
      onFault(error)
      void reopen(place)
    })

  /** Again and again, a second apart, until it runs or nobody wants it any more. */
  const reopen = async (place: number): Promise<void> => {
    while (!closing.signal.aborted) {
      await wait(reopenMs, undefined, { ref: false })
      try {
        // The file may have changed since: vectors of another model would be compared with those of this one.
        await options.verify()
        await seat(place, await open())
        trouble = null
        return
      } catch (error) {
        if (String(error) !== String(trouble) && !closing.signal.aborted) onFault(error)
        trouble = error
      }
    }
  }

  const seat = async (place: number, opened: EncoderChild): Promise<void> => {
    if (closing.signal.aborted) await endEncoderChild(opened)
    else children[place] = opened
  }

  const rest = (): void => {
    const isBusy = children.some(({ lost, waiting }) => lost !== null || waiting.size > 0)
    if (closing.signal.aborted || resting !== null || isBusy || performance.now() - usedAtMs < restAfterMs) return
    resting = Promise.all(children.map(endEncoderChild))
  }

  const begin = async (place: number): Promise<void> => {
    try {
      await options.verify()
      await seat(place, await open())
    } catch (error) {
      if (closing.signal.aborted) return
      onFault(error)
      trouble = error
      void reopen(place)
      throw error
    }
  }

  /** Until the first of them is open: the others follow. Where none opens, `trouble` says why. */
  const wake = async (): Promise<void> => {
    await resting
    await Promise.any(places.map(begin)).catch(() => undefined)
    resting = null
  }

  const send = ({ questionTokens, ids }: Tokens): Promise<Float32Array> => {
    let least: EncoderChild | undefined
    for (const each of children) {
      if (each.lost === null && (least === undefined || each.waiting.size < least.waiting.size)) least = each
    }
    if (least === undefined && closing.signal.aborted) return Promise.reject(new Error('The encoder is closed.'))
    if (least === undefined && trouble !== null) return Promise.reject(cannotRead(trouble))
    if (least === undefined || least.waiting.size >= queueLength) {
      return Promise.reject(new Failure('overloaded', { retryAfterSeconds: 1 }))
    }
    lastId = (lastId % maxId) + 1
    return askChild(least, { id: lastId, words: Int32Array.from([questionTokens, ...ids]), silenceMs })
  }

  children.push(...(await openAll(places.length, open, () => closing.abort())))
  usedAtMs = performance.now()
  const looking = restAfterMs === 0 ? undefined : setInterval(rest, Math.max(20, restAfterMs / 4))
  looking?.unref()
  return {
    submit: (tokens) => {
      usedAtMs = performance.now()
      if (resting === null) return send(tokens)
      waking ??= wake().finally(() => (waking = null))
      return waking.then(() => send(tokens))
    },
    isDown: () => trouble !== null && children.every(({ lost }) => lost !== null),
    close: async () => {
      closing.abort()
      clearInterval(looking)
      await waking
      await Promise.all(children.map(endEncoderChild))
    },
  }
}

/** For who asks while no text can be read. The cause names files and is for the log. */
export function cannotRead(cause: unknown): Failure {
  return new Failure('overloaded', {
    message:
      'Questions cannot be read at the moment: the encoder does not start, and the log of the service says why. Deployed queries can still be called by name.',
    retryAfterSeconds: 10,
    cause,
  })
}

/** All or none: those that did open would stay behind, unused. */
async function openAll(count: number, open: () => Promise<EncoderChild>, giveUp: () => void): Promise<EncoderChild[]> {
  const opened = await Promise.allSettled(Array.from({ length: count }, open))
  const children = opened.flatMap((each) => (each.status === 'fulfilled' ? [each.value] : []))
  const failed = opened.find((each) => each.status === 'rejected')
  if (failed === undefined) return children
  giveUp()
  await Promise.all(children.map(endEncoderChild))
  throw failed.reason
}
