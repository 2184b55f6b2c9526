import { collectYoung } from '../process/index.ts'
import type { Frame } from './executor/socket/frames.ts'
import type { Column, OpenedHead, ReadEnd } from './executor/socket/protocol.ts'
import type { Reply } from './tickets.ts'

/** A part of a result: `bytes` as described at `Engine.stream`, and how many rows are in it. */
export type StreamChunk = { bytes: Buffer; rowCount: number }

export type ReadStream = {
  columns: Column[]
  /** Left out where it shows only at the end. */
  sizeBytes?: number
  /** Ends after the last row or throws; it never ends early in silence. Leaving the loop stops the query. */
  chunks: AsyncIterable<StreamChunk>
  /** Known once `chunks` has ended. */
  end: () => ReadEnd | null
  /** When nothing is read any more, however that came. */
  finished: Promise<unknown>
}

type Answer = (kind: 'credit' | 'cancel') => void
type Run = (onFrame: (frame: Frame, answer: Answer) => void) => Promise<Reply>

/** Turns the frames of one call into an iterable that asks for a chunk whenever it hands one out. */
export async function openReadStream(run: Run): Promise<ReadStream> {
  const queue: StreamChunk[] = []
  let answer: Answer = () => undefined
  let outcome: { end: ReadEnd } | { error: unknown } | null = null
  let wake: () => void = () => undefined
  let finished: Promise<unknown> = Promise.resolve()
  const { columns, sizeBytes } = await new Promise<OpenedHead>((resolve, reject) => {
    const running = run((frame, send) => {
      answer = send
      if (frame.kind === 'opened') resolve(frame.head as OpenedHead)
      else queue.push({ bytes: frame.body, rowCount: frame.head as number })
      wake()
    })
    finished = running.then(
      ({ head }) => {
        outcome = { end: head as ReadEnd }
        return wake()
      },
      (error: unknown) => {
        outcome = { error }
        reject(error instanceof Error ? error : new Error(String(error)))
        wake()
      },
    )
  })

  async function* chunks(): AsyncGenerator<StreamChunk> {
    try {
      for (;;) {
        const chunk = queue.shift()
        if (chunk !== undefined) {
          answer('credit')
          letGo(chunk.bytes.length)
          yield chunk
          continue
        }
        if (outcome !== null) break
        await new Promise<void>((resolve) => {
          wake = resolve
        })
      }
    } finally {
      if (outcome === null) answer('cancel')
    }
    if ('error' in outcome) throw outcome.error
  }

  return {
    columns,
    ...(sizeBytes !== null && { sizeBytes }),
    chunks: chunks(),
    end: () => (outcome !== null && 'end' in outcome ? outcome.end : null),
    finished,
  }
}

const letGoBytes = 4_194_304
let passedBytes = 0

/** Rows pass through as buffers that die young. */
function letGo(bytes: number): void {
  passedBytes += bytes
  if (passedBytes < letGoBytes) return
  passedBytes = 0
  collectYoung()
}
