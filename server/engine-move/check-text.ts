import type { Config } from '../config.ts'
import type { Catalogs } from '../data/index.ts'
import type { QueryEngine } from '../engine/index.ts'
import { Failure, invalidField, listProblems } from '../failure.ts'
import {
  asDraft,
  contentOfText,
  checkSlots,
  draftAsVersion,
  examine,
  liveVersion,
  type LiveVersion,
  type MovedText,
} from '../queries/index.ts'
import { compareCall } from '../rollout/index.ts'
import type { Dialect } from '../store/index.ts'
import { judgeText, type JudgedCall } from './judge-text.ts'
import { parameterSets } from './parameter-sets.ts'
import type { TextReport } from './report.ts'
import type { TextWish } from './wishes.ts'

type Parts = { engine: QueryEngine; catalogs: Catalogs; config: Pick<Config, 'limits'> }

export type CheckedText = { report: TextReport; moved: MovedText | null }

type Check = TextWish & {
  projectId: string
  to: Dialect
  recorded: Array<Record<string, unknown>>
  signal: AbortSignal
}

/** Calls that differ, or fail, say enough: no more are run. */
/** Sets of values on which each query is run on both engines. */
export const maxCheckedCalls = 20
/** The longest check of a project; queries that are left then are unchecked. */
export const maxCheckMs = 240_000
const maxBad = 5

/** Runs one text on the engine that it is written for and on another, and says how they compare. */
export async function checkText(app: Parts, check: Check): Promise<CheckedText> {
  const { text, wish, projectId, to } = check
  if (wish.exclude) return { report: { ...emptyReport(check), status: 'excluded', blocks: false }, moved: null }
  const content = contentOfText(text)
  const draft = asDraft(text, { ...content, sql: wish.sql ?? content.sql, dialect: to })
  const limits = { signal: check.signal }
  const inspected = await orFailure(examine(app, projectId, { ...draft, limits }))
  if (inspected instanceof Failure) {
    const because = `On ${to}: ${inspected.message}`
    return { report: { ...emptyReport(check), status: 'cannot', because }, moved: null }
  }
  const before = await orFailure(versionOfText(app, check))
  if (before instanceof Failure) {
    const because = `On ${content.dialect} it does not run as it is: ${before.message}`
    return settled(check, { report: { ...emptyReport(check), status: 'unchecked', because }, draft, inspected })
  }
  refuseGiven(check, before)
  const calls = await compareOn(app, check, { before, after: draftAsVersion(draft, inspected) })
  const judged = judgeText({ before, after: inspected, calls, accept: wish.accept, to })
  return settled(check, { report: { ...emptyReport(check), ...judged }, draft, inspected })
}

/** Report on a text that was not run. */
export function emptyReport({ text, wish }: TextWish): TextReport {
  const { draft, isDraft, places, version } = text
  return {
    name: draft.name,
    version: isDraft ? null : (version?.number ?? null),
    environments: places.map(({ environment }) => environment),
    status: 'unchecked',
    blocks: true,
    because: null,
    sql: wish.sql ?? contentOfText(text).sql,
    rewritten: wish.sql !== undefined,
    compared: 0,
    uncompared: 0,
    changes: [],
    differences: [],
  }
}

function settled(
  { text, wish }: TextWish,
  { report, draft, inspected }: { report: TextReport } & Omit<MovedText, 'text'>,
): CheckedText {
  const isAccepted = report.status === 'unchecked' && wish.accept.includes('unchecked')
  const blocks = report.status !== 'same' && !isAccepted
  return { report: { ...report, blocks }, moved: { text, draft, inspected } }
}

/** The version that answers today: as it was frozen, or the draft as it would be. */
async function versionOfText(app: Parts, { text, projectId, signal }: Check): Promise<LiveVersion> {
  const { draft, version } = text
  if (version !== null) return liveVersion(version)
  return draftAsVersion(draft, await examine(app, projectId, { ...draft, limits: { signal } }))
}

/** Values that an author gives are meant: what does not fit is said, not passed over. */
function refuseGiven({ wish }: Check, version: LiveVersion): void {
  for (const [index, parameters] of wish.parameters.entries()) {
    const checked = checkSlots(version.compiled(), parameters)
    if (!('details' in checked)) continue
    const problems = listProblems(checked.details, checked.more)
    throw invalidField(`queries.${wish.name}.parameters.${index}`, problems, {
      message: `The parameters given for ${wish.name} are not as expected: ${problems}.`,
    })
  }
}

async function compareOn(
  app: Parts,
  { wish, projectId, recorded, signal }: Check,
  versions: { before: LiveVersion; after: LiveVersion },
): Promise<JudgedCall[]> {
  const calls: JudgedCall[] = []
  let bad = 0
  for (const set of parameterSets(versions.before, { given: wish.parameters, recorded, most: maxCheckedCalls })) {
    const compared = await compareCall(app, { projectId, ...versions, parameters: set.parameters, signal })
    calls.push({ ...set, ...compared })
    if (compared.outcome === 'different' || compared.outcome === 'failed') bad += 1
    if (bad >= maxBad) break
  }
  return calls
}

/** A refusal by the engine is an answer here; an engine that is busy or gone is not. */
async function orFailure<Value>(work: Promise<Value>): Promise<Value | Failure> {
  try {
    return await work
  } catch (error) {
    if (error instanceof Failure && refusals.has(error.code)) return error
    throw error
  }
}

const refusals = new Set<Failure['code']>(['invalid_request', 'invalid_query', 'query_timeout', 'result_too_large'])
