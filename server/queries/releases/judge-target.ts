import type { ReleaseAct, ReleasedQuery } from '../../store/index.ts'
import type { KeyThatCalled } from '../calls/callers.ts'
import { compareContracts, type Change, type Compatibility } from '../slots/compatibility.ts'
import type { Examined } from './examine.ts'
import { chooseVersion, type Chosen, type findLiveVersions } from './rows.ts'
import type { ReleaseTarget } from './targets.ts'

/** Keys that called a query in these days are named where a change would break them. */
export const callersDays = 30

type Judging = {
  act: ReleaseAct
  check?: boolean | undefined
  examined: Examined
  /** By the id of the query. */
  callers: Map<string, KeyThatCalled[]>
}

type Versions = Record<'live' | 'newest', Awaited<ReturnType<typeof findLiveVersions>>>
type JudgedTarget = { target: ReleaseTarget; chosen: Chosen | null; entry: ReleasedQuery }

/** Which version of a query a release would give its callers, and what that changes for them. */
export function judgeTarget(move: Judging, target: ReleaseTarget, { live, newest }: Versions): JudgedTarget {
  const { draft, frozen, isRemoved } = target
  const now = live.get(draft.id) ?? null
  const inspected = move.examined.get(draft.id)
  const called = move.callers.get(draft.id) ?? []
  let chosen: Chosen | null = null
  let compared: { compatibility: Compatibility; changes: Change[] }
  if (isRemoved || inspected === undefined) {
    compared = removalOf(move, called)
  } else {
    chosen =
      frozen === null
        ? chooseVersion(newest.get(draft.id), draft, inspected)
        : { id: frozen.id, number: frozen.number, isNew: false }
    compared = compareContracts(now, frozen ?? inspected)
  }
  const namesCallers = compared.compatibility === 'breaking' || move.check === true
  return {
    target,
    chosen,
    entry: {
      queryId: draft.id,
      name: draft.name,
      version: chosen?.number ?? null,
      previousVersion: now?.number ?? null,
      ...compared,
      callers: namesCallers
        ? called.map(({ keyId, name, lastCalledAt }) => ({ keyId, name, lastCalledAt: lastCalledAt.toISOString() }))
        : [],
    },
  }
}

/** The change of a removal. Taking out one query alone names it; among others it may be there by accident. */
function removalOf({ act }: Judging, called: KeyThatCalled[]): { compatibility: Compatibility; changes: Change[] } {
  if (act === 'undeploy' || called.length === 0) return { compatibility: 'compatible', changes: [] }
  const message = `it stops answering, and ${called.length === 1 ? 'a key' : `${called.length} keys`} called it in the last ${callersDays} days`
  return { compatibility: 'breaking', changes: [{ level: 'breaking', message }] }
}
