import type { Catalogs } from '../../data/index.ts'
import type { QueryEngine } from '../../engine/index.ts'
import { Failure } from '../../failure.ts'
import type { Dialect, ReleaseAct } from '../../store/index.ts'
import { examine, type Inspected } from '../drafts/inspection.ts'
import type { ReleaseTarget } from './targets.ts'

/** The tables and columns of each query now, by query. */
export type Examined = Map<string, Inspected>

/** As many as keep the executors at work. */
const atOnce = 8
const maxNamed = 10

/** Proves of each query that it can run. All that cannot are named at once. */
export async function examineAll(
  app: { catalogs: Catalogs; engine: QueryEngine },
  { projectId, targets, act }: { projectId: string; targets: readonly ReleaseTarget[]; act: ReleaseAct },
): Promise<Examined> {
  const wanted = targets.filter(({ isRemoved }) => !isRemoved)
  const found: Examined = new Map()
  const failed: Array<{ name: string; failure: Failure }> = []
  const { engine } = await app.catalogs.get(projectId)
  const queue = wanted.values()
  const work = async (): Promise<void> => {
    for (const { draft, frozen } of queue) {
      try {
        if (frozen === null && draft.dialect !== engine) throw leftBehind(draft, engine)
        found.set(draft.id, await examine(app, projectId, frozen ?? draft))
      } catch (error) {
        if (!(error instanceof Failure)) throw error
        failed.push({ name: draft.name, failure: error })
      }
    }
  }
  await Promise.all(Array.from({ length: Math.min(atOnce, wanted.length) }, work))
  const [first] = failed
  if (first === undefined) return found
  // A deploy of one query has named it.
  const other =
    act !== 'release' && targets.length === 1 ? first : failed.find(({ failure }) => failure.code !== 'invalid_request')
  throw other?.failure ?? together(failed)
}

/** A version goes on running on the engine it was written for; a draft that was left out of a move becomes none. */
function leftBehind({ name, dialect }: ReleaseTarget['draft'], engine: Dialect): Failure {
  return new Failure('invalid_request', {
    reason: 'invalid_sql',
    message: `${name} is written for ${dialect}, and the project is on ${engine}. Save its SQL as ${engine} takes it.`,
  })
}

function together(failed: Array<{ name: string; failure: Failure }>): Failure {
  const sorted = failed.toSorted((left, right) => (left.name < right.name ? -1 : 1))
  const named = sorted.slice(0, maxNamed).map(({ name, failure }) => `${name}: ${failure.message}`)
  const rest = failed.length > maxNamed ? ` And ${failed.length - maxNamed} more.` : ''
  return new Failure('invalid_request', {
    reason: 'invalid_sql',
    message: `Nothing was released: ${failed.length === 1 ? 'a query' : `${failed.length} queries`} cannot run as written. ${named.join(' ')}${rest}`,
    details: sorted.map(({ name, failure }) => ({ field: name, message: failure.message })),
    cause: sorted[0]?.failure,
  })
}
