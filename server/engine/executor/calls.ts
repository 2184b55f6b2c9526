import { failedHead } from './instance/failed.ts'
import type { Frame, FrameToSend } from './socket/frames.ts'
import { throwIfCancelled, type Cancellable, type Instances } from './instance/instances.ts'
import { checkRows } from './convert/checks.ts'
import { appendPage, convert } from './convert/convert.ts'
import { leaveRows } from './socket/large-rows.ts'
import { writeLookup } from './lookup/write-lookup.ts'
import { compactParts, mergeRows } from './convert/merge.ts'
import { castTable } from './convert/cast-table.ts'
import { buildNative } from './convert/native.ts'
import { peek } from '../../data/executor/peek.ts'
import { distinctValues, profile } from './profile/profile.ts'
import type { AlikeCall, CallHead, ExecutorSettings, FileCall, LeftHead, ScopedHead } from './socket/protocol.ts'
import { explainSql, inspect } from './inspect/describe.ts'
import { readTogether } from '../../data/executor/read-lookups.ts'
import { readWhole, type WholeAnswer } from './read/read.ts'
import { exportParquet } from './read/export-parquet.ts'
import { readStream, type StreamSink } from './read/stream.ts'

type Send = (frame: FrameToSend) => void

type Running = Cancellable & { credits: number; wake: (() => void) | null }

/** Chunks that may be on their way before the reader asks for more. */
const creditsAtStart = 4
const interruptEveryMs = 50

/** Takes frames from the parent and answers them; several calls run at once. */
// Over 70 lines: one handler for each kind of call, over the same running calls.
export function createCalls(parts: { settings: ExecutorSettings; instances: Instances; send: Send }) {
  const running = new Map<number, Running>()
  const { instances, send } = parts

  function receive({ id, kind, head }: Frame): void {
    if (kind === 'call') void begin(id, head as CallHead)
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

  function begin(id: number, head: CallHead): Promise<void> {
    if (head.scope === null || head.alike === undefined) return answer(id, head, started(id))
    return answerTogether(head, [{ id, slots: head.call.slots as AlikeCall['slots'] }, ...head.alike])
  }

  function started(id: number): Running {
    const call: Running = { cancelled: false, interrupt: null, credits: creditsAtStart, wake: null }
    running.set(id, call)
    return call
  }

  /** By one execution where that goes well. What one of them may be to blame for is tried again for each by itself. */
  async function answerTogether(head: ScopedHead, alike: AlikeCall[]): Promise<void> {
    const shared: Cancellable = { cancelled: false, interrupt: null }
    const members = alike.map(({ id, slots }) => ({ id, slots, call: started(id) }))
    for (const { call } of members) call.interrupt = () => shared.interrupt?.()
    const answers = await readAll(head, shared, alike)
    if (answers === undefined) {
      for (const { id } of members) running.delete(id)
      send({ id: members[0]?.id ?? 0, kind: 'catalogUnknown' })
      return
    }
    if (answers !== null) {
      for (const [index, { id }] of members.entries()) {
        running.delete(id)
        const answer = answers[index]
        if (answer !== undefined) await sendAnswer(id, answer)
      }
      return
    }
    // Those that were cancelled first: their parent does not wait long.
    members.sort((left, right) => Number(right.call.cancelled) - Number(left.call.cancelled))
    for (const { id, slots, call } of members) {
      await answer(id, { ...head, call: { ...head.call, slots } }, call)
    }
  }

  /** Null where each call is to be answered by itself, undefined where the catalog is unknown. */
  async function readAll(
    head: ScopedHead,
    call: Cancellable,
    alike: AlikeCall[],
  ): Promise<WholeAnswer[] | null | undefined> {
    try {
      const instance = await instances.acquire(head.scope, head.version, head.catalog)
      if (instance === undefined) return undefined
      if (head.call.verb !== 'read') return null
      return await readTogether(instance, call, { input: head.call, slotsOfCalls: alike.map(({ slots }) => slots) })
    } catch {
      return null
    }
  }

  async function sendAnswer(id: number, { columns, end, bytes, lookup, together }: WholeAnswer): Promise<void> {
    const head = { columns, ...end, lookup, together }
    const leftBytes = await leaveRows(parts.settings.tempDir, id, bytes)
    if (leftBytes === null) send({ id, kind: 'result', head, body: bytes })
    else send({ id, kind: 'result', head: { ...head, leftBytes } satisfies LeftHead })
  }

  async function answer(id: number, head: CallHead, call: Running): Promise<void> {
    try {
      if (head.scope === null) send({ id, kind: 'result', head: await answerFile(call, head.call) })
      else await answerScoped(id, call, head)
    } catch (error) {
      const scoped = head.scope === null ? null : head.call
      const input = scoped === null ? null : { sql: scoped.sql, hasSlots: scoped.slots.length > 0 }
      send({ id, kind: 'failed', head: failedHead(error, input) })
    } finally {
      running.delete(id)
    }
  }

  function answerFile(call: Running, file: FileCall): Promise<unknown> {
    const { settings } = parts
    if (file.verb === 'convert') return convert(settings, call, file)
    if (file.verb === 'appendPage') return appendPage(settings, call, file)
    if (file.verb === 'peek') return peek(settings, call, file)
    if (file.verb === 'checkRows') return checkRows(settings, call, file)
    if (file.verb === 'mergeRows') return mergeRows(settings, call, file)
    if (file.verb === 'compactParts') return compactParts(settings, call, file)
    if (file.verb === 'profile') return profile(settings, call, file.parquetPath)
    if (file.verb === 'castTable') return castTable(settings, call, file)
    if (file.verb === 'buildNative') return buildNative(settings, call, file)
    return distinctValues(settings, call, file)
  }

  async function answerScoped(id: number, call: Running, head: ScopedHead): Promise<void> {
    const instance = await instances.acquire(head.scope, head.version, head.catalog)
    if (instance === undefined) {
      send({ id, kind: 'catalogUnknown' })
      return
    }
    throwIfCancelled(call)
    const { call: scoped } = head
    if (scoped.verb === 'inspect') send({ id, kind: 'result', head: await inspect(instance, call, scoped) })
    else if (scoped.verb === 'explain') send({ id, kind: 'result', head: await explainSql(instance, call, scoped) })
    else if (scoped.verb === 'writeLookup')
      send({ id, kind: 'result', head: await writeLookup(instance, call, scoped) })
    else if (scoped.stream) {
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
      opened: (columns) => send({ id, kind: 'opened', head: columns }),
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
