import type { Value } from '../../api/wire-codec.ts'
import type { planEntry } from '../../api/definition.ts'
import { isDeepStrictEqual } from 'node:util'
import type { Failure } from '../failure.ts'
import type { ReleaseReport } from '../queries/index.ts'

/** The planned change of one thing of the project, and the step that makes it. */
export type PlanEntry = Omit<Value<typeof planEntry>, 'release'> & { release: EntryRelease | null }

export type FieldChange = { field: string; before: unknown; after: unknown }

export type EntryRelease = Pick<ReleaseReport['queries'][number], 'compatibility' | 'changes' | 'callers'> & {
  environment: string
  version: number | null
}

export function entryOf(
  kind: PlanEntry['kind'],
  name: string,
  { action, changes = [] }: { action: PlanEntry['action']; changes?: FieldChange[] },
): PlanEntry {
  return { kind, name, action, changes, notes: [], release: null, readers: [], failedChecks: [], refused: null }
}

/** A thing that stays, changed or not. */
export function comparedEntry(kind: PlanEntry['kind'], name: string, changes: FieldChange[]): PlanEntry {
  return entryOf(kind, name, { action: changes.length === 0 ? 'unchanged' : 'update', changes })
}

export function refusedBy({ code, reason, message }: Failure): NonNullable<PlanEntry['refused']> {
  return { error: code, reason: reason ?? null, message }
}

/** Fields that hold many of their own are told apart one step further. */
const deepFields = new Set(['config', 'schema'])

/** The differences of two documents, by field; null where a field is not there. */
export function changesBetween(before: object, after: object): FieldChange[] {
  return differing(plain(before), plain(after)).flatMap((change) => {
    if (!deepFields.has(change.field) || !isRecord(change.before) || !isRecord(change.after)) return [change]
    const inner = differing(change.before, change.after)
    return inner.map(({ field, ...values }) => ({ field: `${change.field}.${field}`, ...values }))
  })
}

function differing(before: Record<string, unknown>, after: Record<string, unknown>): FieldChange[] {
  return [...new Set([...Object.keys(before), ...Object.keys(after)])].flatMap((field) => {
    const [was, is] = [before[field] ?? null, after[field] ?? null]
    return isDeepStrictEqual(was, is) ? [] : [{ field, before: was, after: is }]
  })
}

/** As it is written: what is undefined is not there. */
function plain(value: object): Record<string, unknown> {
  return JSON.parse(JSON.stringify(value)) as Record<string, unknown>
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
