import { actsBetween, lastActsBefore, type PastAct } from '../../access/index.ts'
import type { Database, Drift } from '../../store/index.ts'
import { readFreshness } from './source-health.ts'

type Span = { from: Date; to: Date }

/** Beyond this many loads in a span, the older ones are not looked at. */
const maxActs = 50_000
const loads = ['datasource.refreshed', 'datasource.version_held', 'data_version.activated']
const kinds = [...loads, 'data_object.deleted']

/** The past of every table of a project. `knownFrom`: before it the log was not read, or did not tell of columns. */
export async function readTablesPast(
  store: Pick<Database, 'db'>,
  projectId: string,
  { from, to }: Span,
): Promise<{ tables: Array<ReturnType<typeof pastOf>>; knownFrom: Date; columnsKnownFrom: Date }> {
  const [sources, now, before, within] = await Promise.all([
    store.db
      .selectFrom('datasources')
      .select(['id', 'tableName', 'createdAt'])
      .where('projectId', '=', projectId)
      .execute(),
    readFreshness(store, projectId),
    lastActsBefore(store, { projectId, actions: loads, before: from }),
    actsBetween(store, { projectId, actions: kinds, from, to, most: maxActs }),
  ])
  const fresh = new Map(now.map((each) => [each.tableName, each]))
  const acts = Map.groupBy([...before, ...within], (act) => tableOf(act, sources))
  const tables = sources.flatMap(({ tableName, createdAt }) => {
    const known = fresh.get(tableName)
    return known === undefined ? [] : [pastOf({ ...known, createdAt }, acts.get(tableName) ?? [])]
  })
  const untold = within.findLast((act) => isVersion(act) && act.details['drift'] === undefined)
  const knownFrom = within.length < maxActs ? from : (within[0]?.at ?? from)
  return { tables, knownFrom, columnsKnownFrom: untold !== undefined && untold.at > knownFrom ? untold.at : knownFrom }
}

function tableOf({ target, details }: PastAct, sources: Array<{ id: string; tableName: string }>): string | undefined {
  const named = details['table_name']
  return typeof named === 'string' ? named : sources.find(({ id }) => id === target)?.tableName
}

function isVersion({ action, details }: PastAct): boolean {
  return (action === 'datasource.refreshed' && details['unchanged'] !== true) || action === 'datasource.version_held'
}

type Known = Awaited<ReturnType<typeof readFreshness>>[number] & { createdAt: Date }

/** Loads of a table as far as the audit log has them, for the port of alerts. Times are in order. */
function pastOf({ tableName, schedule, timeZone, freshAt: freshNow, createdAt }: Known, acts: PastAct[]) {
  const fresh = freshness(acts)
  // Data that came in another way than by a load is in no act.
  if (freshNow !== null && freshNow > (fresh.at(-1)?.at ?? createdAt)) fresh.push({ since: freshNow, at: freshNow })
  return {
    tableName,
    schedule,
    timeZone,
    /** When fresh data was promised first; null without a schedule. */
    promisedAt: schedule === null ? null : createdAt,
    /** How old the data was that served, and since when; the last before the span, too. */
    fresh,
    /** When its newest data waited for its author; null: it still does. */
    heldBetween: heldSpans(acts),
    drifts: acts.flatMap(({ at, details }) => {
      const drift = details['drift'] as Drift | null | undefined
      return drift === null || drift === undefined ? [] : [{ at, drift }]
    }),
  }
}

/** A load is fresh when it comes; what was held and is let in then is as fresh as when it came. */
function freshness(acts: PastAct[]): Array<{ since: Date; at: Date }> {
  const cameAt = new Map<unknown, Date>()
  return acts.flatMap(({ action, at, details }) => {
    const version = details['version']
    if (action === 'datasource.version_held') cameAt.set(version, at)
    if (action === 'datasource.refreshed') return [{ since: at, at }]
    const came = action === 'data_version.activated' ? cameAt.get(version) : undefined
    return came === undefined ? [] : [{ since: at, at: came }]
  })
}

/** The newest version waits while it is held and another one, or none, serves. */
function heldSpans(acts: PastAct[]): Array<{ from: Date; to: Date | null }> {
  const spans: ReturnType<typeof heldSpans> = []
  let versions: Array<{ version: number; isHeld: boolean }> = []
  let live: unknown = null
  for (const act of acts) {
    const version = act.details['version']
    if (typeof version !== 'number') continue
    if (act.action === 'data_object.deleted') versions = versions.filter((each) => each.version !== version)
    else if (isVersion(act)) versions.push({ version, isHeld: act.action === 'datasource.version_held' })
    if (act.action === 'datasource.refreshed' || act.action === 'data_version.activated') live = version
    const newest = versions.at(-1)
    const waits = newest !== undefined && newest.isHeld && newest.version !== live
    const last = spans.at(-1)
    if (waits && (last === undefined || last.to !== null)) spans.push({ from: act.at, to: null })
    else if (!waits && last !== undefined && last.to === null) last.to = act.at
  }
  return spans
}
