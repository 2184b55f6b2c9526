import { rm, writeFile } from 'node:fs/promises'
import type { AnswerBody, ConvertCall, Converted } from '../../engine/index.ts'
import { fileSink, type AnswerHead, type Sink } from '../outbound/receive.ts'

/** Makes a table of a body that is still being written. */
export type ConvertAhead = {
  convert: (source: ConvertCall['source'], signal: AbortSignal) => Promise<Converted>
  /** A smaller body is here before anything could be done with it. */
  fromBytes: number
  /** One that comes more slowly would only keep a place from others. */
  bytesPerMs: number
}

export const ordinaryAhead = { fromBytes: 8_388_608, bytesPerMs: 65_536 }

/**
 * A file for one answer, whose rows are looked at while it arrives where it is large and comes fast. Whatever goes wrong
 * with that is no failure: what was not converted ahead is converted once it is whole.
 */
export function receiveAhead(
  path: string,
  ahead: ConvertAhead | undefined,
  { bodyOf, signal }: { bodyOf: (head: AnswerHead) => AnswerBody; signal: AbortSignal | undefined },
) {
  const wholeMark = `${path}.whole`
  const dropped = new AbortController()
  let converting: Promise<Converted | null> = Promise.resolve(null)
  let isTried = false
  let startedMs = 0

  function written(bytes: number, head: AnswerHead): void {
    if (ahead === undefined || isTried || bytes < ahead.fromBytes) return
    isTried = true
    const isFast = bytes >= ahead.bytesPerMs * (performance.now() - startedMs)
    if (!isFast || head.status < 200 || head.status > 299) return
    const either = signal === undefined ? dropped.signal : AbortSignal.any([signal, dropped.signal])
    const source = { kind: 'answer' as const, wholeMark, ...bodyOf(head) }
    converting = ahead.convert(source, either).catch(() => null)
  }

  const file = fileSink(path, written)
  const sink: Sink = {
    open(head) {
      // The answer before broke off, and this one is written in its place.
      if (isTried) dropped.abort()
      startedMs = performance.now()
      return file.open(head)
    },
  }
  return {
    sink,
    /** The body is whole. Answers null where it is still to be converted. */
    async converted(): Promise<Converted | null> {
      if (isTried) await writeFile(wholeMark, '')
      return await converting
    },
    async [Symbol.asyncDispose]() {
      dropped.abort()
      await converting
      await rm(wholeMark, { force: true })
    },
  }
}
