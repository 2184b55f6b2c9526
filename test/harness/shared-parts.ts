import { mkdtemp } from 'node:fs/promises'
import { join } from 'node:path'
import { inject } from 'vitest'
import { openEngine, type Engine } from '../../server/engine/index.ts'
import type { Observation, Observe } from '../../server/observe.ts'
import { openEncoder, type Encoder } from '../../server/router/index.ts'

/**
 * The processes for queries and for questions, which the apps of one test process share: starting them was half of what
 * opening an app took. They wait for the next file; where it wants other settings, its own take their place.
 */
type Shared<Part, Event> = { key: string; opening: Promise<Part>; users: Set<(event: Event) => void> }

let engine: Shared<Engine, Observation> | undefined
let encoder: Shared<Encoder, unknown> | undefined

/** What a closed app has left running may take so long; else the next one gets new processes. */
const settleMs = 5_000
/** Nobody calls the projects of a closed app again. */
const idleCloseMs = 15_000

/** As the engine's own, but its clock does not move: what is shared cannot follow the clock of one app. */
export const openSharedEngine: typeof openEngine = async (options) => {
  const { runDir: _own, now: _moved, observe, ...settings } = options
  const key = JSON.stringify(settings)
  // One that someone still uses stays as it is.
  if (engine !== undefined && engine.key !== key && engine.users.size > 0) return openEngine(options)
  if (engine?.key !== key) {
    const before = engine?.opening
    const users = new Set<Observe>()
    const open = async (): Promise<Engine> => {
      await (await before)?.close(settleMs)
      const runDir = await mkdtemp(join(inject('scratchDir'), 'run-'))
      const observeAll: Observe = (event) => users.forEach((user) => user(event))
      return openEngine({ ...settings, idleCloseMs, runDir, observe: observeAll, now: Date.now })
    }
    engine = { key, opening: open(), users }
  }
  const shared = engine
  shared.users.add(observe)
  const part = await shared.opening
  const close = async (): Promise<void> => {
    if (!shared.users.delete(observe) || shared.users.size > 0 || (await becomesIdle(part))) return
    if (engine === shared) engine = undefined
    await part.close(0)
  }
  return { ...part, close }
}

/** As the encoder's own, but reads no text twice. */
export const openSharedEncoder: typeof openEncoder = async (options) => {
  const { onFault = () => undefined, ...settings } = options
  const key = JSON.stringify(settings)
  if (encoder !== undefined && encoder.key !== key && encoder.users.size > 0) return openEncoder(options)
  if (encoder?.key !== key) {
    const before = encoder?.opening
    const users = new Set<(error: unknown) => void>()
    const open = async (): Promise<Encoder> => {
      await (await before)?.close()
      return encodingOnce(await openEncoder({ ...settings, onFault: (error) => users.forEach((user) => user(error)) }))
    }
    encoder = { key, opening: open(), users }
  }
  const shared = encoder
  shared.users.add(onFault)
  return { ...(await shared.opening), close: async () => void shared.users.delete(onFault) }
}

/** A text has the same vector whoever asks, a pair the same logits, and files ask about the same shop. */
function encodingOnce(part: Encoder): Encoder {
  const vectorOf = once(
    (text: string) => text,
    async (text) => {
      const [vector = new Float32Array()] = await part.encode([text])
      return vector
    },
  )
  const { reader } = part
  const score =
    reader === null ? null : once(({ ids, questionTokens }) => [questionTokens, ...ids].join(), reader.score)
  return {
    ...part,
    encode: (texts) => Promise.all(texts.map(vectorOf)),
    reader: reader === null || score === null ? null : { ...reader, score },
  }
}

/** What failed is tried again. */
function once<Input, Output>(
  keyOf: (input: Input) => string,
  work: (input: Input) => Promise<Output>,
): (input: Input) => Promise<Output> {
  const known = new Map<string, Promise<Output>>()
  return (input) => {
    const key = keyOf(input)
    const found = known.get(key) ?? work(input)
    known.set(key, found)
    found.catch(() => known.delete(key))
    return found
  }
}

async function becomesIdle(part: Engine): Promise<boolean> {
  const isIdle = (): boolean => {
    const { executors, waiting } = part.health()
    return waiting === 0 && executors.every(({ ready, calls }) => ready && calls === 0)
  }
  for (const deadlineMs = performance.now() + settleMs; performance.now() < deadlineMs;) {
    if (isIdle()) return true
    await new Promise((resolve) => {
      setTimeout(resolve, 20)
    })
  }
  return isIdle()
}
