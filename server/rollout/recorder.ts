import type { Vault } from '../access/index.ts'
import type { Backlog } from '../flow/index.ts'
import { openRowWriter, type RowWriterParts } from '../store/index.ts'
import { writeRecordedCalls, type Recordable } from './recorded-calls.ts'

/** Writes calls down in batches, off the path of whoever calls. */
export type CallRecorder = {
  note(call: Omit<Recordable, 'at' | 'times' | 'requestIds'> & { requestId?: string | null | undefined }): void
  flush(): Promise<void>
  close(): Promise<void>
}

type RecorderOptions = RowWriterParts & {
  vault: Vault
  /** Limit for one query in one environment. */
  maxPerSecond: number
}

const flushMs = 1_000
/** Queries in the record at once; calls of more are not recorded until the next second. */
const maxQueries = 500
/** A call with more is an upload rather than a question; it is left out of the record. */
const maxParameterChars = 16_384
/** Calls with the same values in one second; the log has the values of as many. */
const maxRequestIds = 200

export function openCallRecorder(options: RecorderOptions): CallRecorder {
  const { store, vault, now, maxPerSecond } = options
  const sample = openSample(maxPerSecond)
  const writer = openRowWriter(options, {
    where: 'recorded calls',
    backlog: sample,
    write: (calls) => writeRecordedCalls({ store, vault }, calls),
    maxItems: maxQueries * maxPerSecond,
    flushMs,
  })
  return {
    note({ requestId, ...call }) {
      const text = JSON.stringify(call.parameters)
      if (text.length > maxParameterChars) return
      const requestIds = typeof requestId === 'string' ? [requestId] : []
      sample.add({ ...call, requestIds, at: now(), times: 1 }, call.failed ? `failed ${text}` : text)
    },
    flush: writer.flush,
    close: writer.close,
  }
}

type Sample = Backlog<Recordable> & { add(call: Recordable, text: string): void }

/** The first few different calls of each query between two writes; the same call again counts with the first. */
function openSample(maxEach: number): Sample {
  let byQuery = new Map<string, Map<string, Recordable>>()
  const add = (call: Recordable, text: string): void => {
    const name = `${call.environment}\n${call.queryId}`
    let calls = byQuery.get(name)
    if (calls === undefined) {
      if (byQuery.size >= maxQueries) return
      byQuery.set(name, (calls = new Map()))
    }
    const known = calls.get(text)
    if (known !== undefined) {
      known.times += call.times
      if (known.requestIds.length < maxRequestIds) known.requestIds.push(...call.requestIds)
      known.at = Math.max(known.at, call.at)
    } else if (calls.size < maxEach) calls.set(text, call)
  }
  const size = (): number => {
    let sum = 0
    for (const calls of byQuery.values()) sum += calls.size
    return sum
  }
  return {
    add,
    size,
    take() {
      const taken = [...byQuery.values()].flatMap((calls) => [...calls.values()])
      byQuery = new Map()
      return taken
    },
    putBack(calls) {
      for (const call of calls) add(call, `${call.failed ? 'failed ' : ''}${JSON.stringify(call.parameters)}`)
      // It is a sample: what finds no room was one of many.
      return 0
    },
  }
}
