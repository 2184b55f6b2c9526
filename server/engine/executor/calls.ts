import { failedHead } from './instance/failed.ts'
import type { KnownTable } from './instance/sql-failure.ts'
import type { Frame, FrameToSend } from './socket/frames.ts'
import { throwIfCancelled, type Cancellable, type Instances } from './instance/instances.ts'
import { readComparisons } from './bounds/read-comparisons.ts'
import { checkRows } from './convert/checks.ts'
import { appendPage, convert } from './convert/convert.ts'
import { leaveRows } from './socket/large-rows.ts'
import { writeLookup } from './lookup/write-lookup.ts'
import { compactParts, mergeRows } from './convert/merge.ts'
import { castTable } from './convert/cast-table.ts'
import { buildNative } from './convert/native.ts'
import { pageValues } from './convert/page-values.ts'
import { peek } from './convert/peek.ts'
import { distinctValues, profile } from './profile/profile.ts'
import type { CallHead, ExecutorSettings, FileCall, FileVerbs, LeftHead, ScopedHead } from './socket/protocol.ts'
import { explainSql, inspect } from './inspect/describe.ts'
import { readWhole, type WholeAnswer } from './read/read.ts'
import { exportParquet } from './read/export-parquet.ts'
import { writeTable } from './read/write-table.ts'
import { readStream, type StreamSink } from './read/stream.ts'

type Send = (frame: FrameToSend) => void

type Running = Cancellable & { credits: number; wake: (() => void) | null; tables: KnownTable[] }

/** Chunks that may be on their way before the reader asks for more. */
const creditsAtStart = 4
const interruptEveryMs = 50

type FileVerb<Verb extends keyof FileVerbs> = (
  settings: ExecutorSettings,
  call: Cancellable,
  input: FileVerbs[Verb]['input'],
) => Promise<FileVerbs[Verb]['result']>

const fileVerbs: { [Verb in keyof FileVerbs]: FileVerb<Verb> } = {
  appendPage,
  convert,
  peek,
  pageValues: (_settings, _call, input) => pageValues(input),
  checkRows,
  mergeRows,
  compactParts,
  profile,
  buildNative,
  castTable,
  distinctValues,
  readComparisons: (settings, _call, { statements }) => readComparisons(settings, statements),
}

/** Takes frames from the parent and answers them; several calls run at once. */
// Over 70 lines: one handler for each kind of call, over the same running calls.
export function createCalls(parts: { settings: ExecutorSettings; instances: Instances; send: Send }) {
  const running = new Map<number, Running>()
  const { instances, send } = parts

  function receive({ id, kind, head }: Frame): void {
    if (kind === 'call') void answer(id, head as CallHead)
    const call = running.get(id)
    if (call === undefined) return
    if (kind === 'cancel') {
      call.cancelled = true
      interrupt(id, call)
      call.wake?.()
    } else if (kind === 'credit') {
      call.credits += 1
      call.wake?.()
    }
  }

  /** DuckDB forgets an interrupt that arrives just before a statement starts, so it is repeated until the call ends. */
  function interrupt(id: number, call: Running): void {
    call.interrupt?.()
    setTimeout(() => {
      if (running.get(id) === call) interrupt(id, call)
    }, interruptEveryMs)
  }

  async function sendAnswer(id: number, { columns, end, bytes }: WholeAnswer): Promise<void> {
    const head = { columns, ...end }
    const leftBytes = await leaveRows(parts.settings.tempDir, id, bytes)
    if (leftBytes === null) send({ id, kind: 'result', head, body: bytes })
    else send({ id, kind: 'result', head: { ...head, leftBytes } satisfies LeftHead })
  }

  async function answer(id: number, head: CallHead): Promise<void> {
    const call: Running = { cancelled: false, interrupt: null, credits: creditsAtStart, wake: null, tables: [] }
    running.set(id, call)
    try {
      if (head.scope === null) send({ id, kind: 'result', head: await answerFile(call, head.call) })
      else await answerScoped(id, call, head)
    } catch (error) {
      const scoped = head.scope === null ? null : head.call
      const hasSlots = scoped !== null && 'slots' in scoped && scoped.slots.length > 0
      const input = scoped === null ? null : { sql: scoped.sql, hasSlots, tables: call.tables }
      send({ id, kind: 'failed', head: failedHead(error, input) })
    } finally {
      running.delete(id)
    }
  }

  function answerFile(call: Running, { verb, ...input }: FileCall): Promise<unknown> {
    return (fileVerbs[verb] as FileVerb<typeof verb>)(parts.settings, call, input)
  }

  async function answerScoped(id: number, call: Running, head: ScopedHead): Promise<void> {
    const instance = await instances.acquire(head.scope, head.version, head.catalog)
    if (instance === undefined) {
      send({ id, kind: 'catalogUnknown' })
      return
    }
    throwIfCancelled(call)
    call.tables = instance.catalog.tables
    const { call: scoped } = head
    if (scoped.verb === 'inspect') send({ id, kind: 'result', head: await inspect(instance, call, scoped) })
    else if (scoped.verb === 'explain') send({ id, kind: 'result', head: await explainSql(instance, call, scoped) })
    else if (scoped.verb === 'writeLookup')
      send({ id, kind: 'result', head: await writeLookup(instance, call, scoped) })
    else if (scoped.verb === 'writeTable') {
      const written = await writeTable(instance, call, { input: scoped, settings: parts.settings })
      send({ id, kind: 'result', head: written })
    } else if (scoped.stream) {
      const sink = sinkOf(id, call)
      const exporting = { instance, settings: parts.settings, id }
      const end =
        scoped.format === 'parquet'
          ? await exportParquet(exporting, call, { input: scoped, sink })
          : await readStream(instance, call, { input: scoped, sink })
      send({ id, kind: 'result', head: end })
    } else {
      await sendAnswer(id, await readWhole(instance, call, scoped))
    }
  }

  /** A chunk leaves when the reader has taken an earlier one, so neither process holds more than a few. */
  function sinkOf(id: number, call: Running): StreamSink {
    return {
      opened: (head) => send({ id, kind: 'opened', head }),
      chunk: async (bytes, rowCount) => {
        while (call.credits === 0 && !call.cancelled) {
          await new Promise<void>((resolve) => {
            call.wake = resolve
          })
        }
        throwIfCancelled(call)
        call.credits -= 1
        send({ id, kind: 'chunk', head: rowCount, body: bytes })
      },
    }
  }

  return { receive }
}
