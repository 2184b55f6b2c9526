import type { Observe } from '../../observe.ts'
import type { Database } from '../../store/index.ts'
import { keepVectors, type KeptVectors } from './kept-vectors.ts'
import { cannotRead, openEncoder, type Encoder } from '../../router/index.ts'

export type LazyEncoder = {
  open(): Promise<KeptVectors>
  state(): 'closed' | 'opening' | 'neural' | 'lexical' | 'failed'
  close(): Promise<void>
}

export type EncoderOptions = {
  modelDir: string
  readerDir: string
  /** Where it is not the usual one: apps may share its processes. */
  openEncoder: typeof openEncoder | undefined
  threads: number
  queueLength: number
  /** How long nobody asks until the encoder's processes are ended; 0: never. */
  restAfterMs: number
  store: Pick<Database, 'db'>
  observe: Observe
  now: () => number
}

type Opened = { encoder: Encoder; vectors: KeptVectors }

/** So long a failure stands for those who ask: each attempt reads the whole model. */
const retryMs = 1_000

/** Opened once, when it is first needed; a failure is observed once and tried again at a later need. */
export function lazyEncoder({
  modelDir,
  readerDir,
  openEncoder: start = openEncoder,
  threads,
  queueLength,
  restAfterMs,
  store,
  observe,
  now,
}: EncoderOptions): LazyEncoder {
  let opening: Promise<Opened> | undefined
  let opened: Opened | undefined
  let failure: { error: unknown; atMs: number } | undefined
  const onFault = (error: unknown): void => observe({ kind: 'fault', where: 'question-encoder', error })
  const open = async (): Promise<Opened> => {
    const startedMs = performance.now()
    try {
      const encoder = await start({ modelDir, readerDir, threads, queueLength, restAfterMs, onFault })
      const elapsedMs = Math.round(performance.now() - startedMs)
      observe({ kind: 'encoder-opened', encoder: encoder.kind, fallbackReason: encoder.fallbackReason, elapsedMs })
      opened = { encoder, vectors: keepVectors(encoder, { store, observe, now }) }
      failure = undefined
      return opened
    } catch (error) {
      if (failure === undefined) onFault(error)
      failure = { error, atMs: performance.now() }
      opening = undefined
      throw cannotRead(error)
    }
  }
  return {
    async open() {
      const isRecent = failure !== undefined && performance.now() - failure.atMs < retryMs
      if (opening === undefined && isRecent) throw cannotRead(failure?.error)
      return (await (opening ??= open())).vectors
    },
    state() {
      if (opened !== undefined) return opened.encoder.isDown() ? 'failed' : opened.encoder.kind
      if (failure !== undefined) return 'failed'
      return opening === undefined ? 'closed' : 'opening'
    },
    async close() {
      const last = await opening?.catch(() => undefined)
      await last?.encoder.close()
    },
  }
}
