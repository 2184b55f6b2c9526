import { requireRole, type Caller, type Vault } from '../access/index.ts'
import type { Config } from '../config.ts'
import { noTrino } from '../engine/index.ts'
import { Failure } from '../failure.ts'
import type { Gate } from '../flow/index.ts'
import { engineOf } from '../projects/index.ts'
import { contentOfText, liveVersion, readTexts, releaseMove, type ReleaseParts } from '../queries/index.ts'
import { callsToRun, type CallRecorder } from '../rollout/index.ts'
import type { Dialect } from '../store/index.ts'
import { checkText, maxCheckedCalls, maxCheckMs, emptyReport, type CheckedText } from './check-text.ts'
import { refusedMove, sayMove, type MoveReport } from './report.ts'
import { wishesOf, type TextWish, type Wish } from './wishes.ts'

type Parts = ReleaseParts & { vault: Vault; recorder: CallRecorder; config: Config; engineMoveGate: Gate }

type Move = {
  projectId: string
  engine: Dialect
  queries: Wish[]
  /** Compare and report; nothing is switched. */
  check: boolean
  signal: AbortSignal
}

/** Texts that are compared at once: behind the callers, on two engines. */
const atOnce = 4

/** Moves in one process: each holds both engines for minutes. */
export const engineMoveTurns = {
  room: 2,
  perName: 1,
  queueLength: 4,
  waitMs: maxCheckMs,
  late: {
    message: 'Other moves between engines are still being checked. Try again in a minute.',
    retryAfterSeconds: 60,
  },
}

/**
 * Puts a project on another engine: every text of it is run on both over the same values and data, and where nothing
 * stands against it, all of it is switched as one act. The same text may mean something else on another engine, so what
 * was compared is told, and nothing is promised beyond it.
 */
export async function moveProject(app: Parts, caller: Caller, move: Move): Promise<MoveReport> {
  const { projectId, engine: to } = move
  await requireRole(app, caller, projectId, 'owner')
  const from = await engineOf(app.store, projectId)
  if (from === to) {
    throw new Failure('conflict', { reason: 'same_engine', message: `The project is on ${to} already.` })
  }
  if (app.config.trinoUrl === undefined) throw noTrino()
  const work = () => checkAndSwitch(app, caller, { ...move, from })
  return app.engineMoveGate.run([projectId], work, { signal: move.signal })
}

async function checkAndSwitch(app: Parts, caller: Caller, move: Move & { from: Dialect }): Promise<MoveReport> {
  const { projectId, from, engine: to, check } = move
  const wishes = wishesOf(await readTexts(app.store, { projectId, dialect: from }), move.queries)
  const checked = await checkAll(app, wishes, move)
  const queries = checked.map(({ report }) => report)
  const ready = queries.every(({ blocks }) => !blocks)
  const report = { projectId, from, to, ready, queries, switched: false, summary: sayMove({ from, to }, queries) }
  if (check) return { ...report, releases: [] }
  if (!ready) throw refusedMove({ ...report, releases: [] })
  const excluded = wishes.filter(({ wish }) => wish.exclude).map(({ text }) => text)
  const unchecked = queries.filter(({ status }) => status === 'unchecked').map(({ name }) => name)
  const released = await releaseMove(app, caller, {
    projectId,
    from,
    to,
    moved: checked.flatMap(({ moved }) => moved ?? []),
    excluded,
    message: `The project moved from ${from} to ${to}.`,
    details: { from, to, excluded: [...new Set(excluded.map(({ draft }) => draft.name))], unchecked },
  })
  const releases = released.map(({ environment, id }) => ({ environment, releaseId: id }))
  return { ...report, switched: true, releases }
}

/** In order. What is not reached in time is unchecked, and says so. */
async function checkAll(app: Parts, wishes: TextWish[], move: Move): Promise<CheckedText[]> {
  const { projectId, engine: to } = move
  const versions = wishes.map(({ text }) => liveVersion(text.version ?? unfrozen(text)))
  const environments = [...new Set(wishes.flatMap(({ text }) => text.places.map((place) => place.environment)))]
  const recorded = await callsToRun(app, { projectId, environments, versions, each: maxCheckedCalls })
  const deadline = AbortSignal.timeout(maxCheckMs)
  const signal = AbortSignal.any([move.signal, deadline])
  const results: CheckedText[] = []
  const queue = wishes.entries()
  const work = async (): Promise<void> => {
    for (const [at, wish] of queue) {
      const input = { ...wish, projectId, to, recorded: recorded.get(wish.text.draft.id) ?? [], signal }
      try {
        signal.throwIfAborted()
        results[at] = await checkText(app, input)
      } catch (error) {
        move.signal.throwIfAborted()
        if (!deadline.aborted) throw error
        const because = `The check ran past its ${Math.round(maxCheckMs / 1000)} s before it came to this.`
        results[at] = { report: { ...emptyReport(wish), because }, moved: null }
      }
    }
  }
  await Promise.all(Array.from({ length: Math.min(atOnce, wishes.length) }, work))
  return results
}

/** As far as the values of recorded calls ask: its slots and examples. */
function unfrozen(text: TextWish['text']): Parameters<typeof liveVersion>[0] {
  const { draft } = text
  const none = { number: 0, columns: [], tables: {}, createdBy: draft.updatedBy }
  return { ...draft, ...contentOfText(text), ...none, id: `draft ${draft.id}`, queryId: draft.id }
}
