import type { Column } from '../engine/index.ts'
import { compareContracts } from '../queries/index.ts'
import type { ComparedCall } from '../rollout/index.ts'
import type { Dialect } from '../store/index.ts'
import type { ParameterSet } from './parameter-sets.ts'
import type { Difference, MoveStatus, TextReport } from './report.ts'

export type JudgedCall = ParameterSet & ComparedCall
export type Accepted = 'unchecked' | 'order'

type Shape = { columns: Column[]; slots: Parameters<typeof compareContracts>[1]['slots'] }
type Judged = Pick<TextReport, 'status' | 'because' | 'compared' | 'uncompared' | 'changes' | 'differences'>

/** Calls that are told; of more it is known that there are. */
const maxDifferences = 3
/** A row that is longer is told as left out: an answer is no place for a megabyte. */
const maxRowChars = 4_000

/** How a text does on another engine, from what it returns and from calls that both ran. */
export function judgeText({
  before,
  after,
  calls,
  accept,
  to,
}: {
  before: Shape
  after: Shape
  calls: readonly JudgedCall[]
  accept: readonly Accepted[]
  to: Dialect
}): Judged {
  const changes = shapeChanges(before, after)
  const compared = calls.filter(isCompared)
  const figures = { compared: compared.length, uncompared: calls.length - compared.length, changes }
  const bad = compared.filter((call) => isDifferent(call, accept))
  const differences = bad.slice(0, maxDifferences).map((call) => differenceOf(call, to))
  const say = (status: MoveStatus, because: string | null): Judged => ({ ...figures, status, because, differences })
  const failed = compared.find(({ outcome }) => outcome === 'failed')
  if (failed !== undefined) return say('cannot', differenceOf(failed, to).because)
  const breaking = changes.filter(({ level }) => level !== 'compatible')
  if (breaking.length > 0) return say('different', `${breaking.map(({ message }) => message).join('; ')}.`)
  if (bad.length > 0) return say('different', sayDifferent(bad, compared.length))
  if (compared.length === 0) return say('unchecked', sayUnchecked(calls))
  const isReordered = compared.some(({ outcome }) => outcome === 'reordered')
  return say('same', isReordered ? 'The same rows in another order, which its author accepts.' : null)
}

/** Columns by what callers notice: their names, their order and their types. */
function shapeChanges(before: Shape, after: Shape): TextReport['changes'] {
  const { changes } = compareContracts(before, { ...before, columns: after.columns })
  const [was, is] = [before, after].map(({ columns }) => columns.map(({ name }) => name))
  const isMoved = changes.every(({ level }) => level === 'compatible') && JSON.stringify(was) !== JSON.stringify(is)
  return isMoved ? [...changes, { level: 'breaking', message: 'its columns come in another order' }] : changes
}

/** Two that fail alike, and what the older one does not answer twice alike, say nothing. */
function isCompared({ outcome, before, after }: ComparedCall): boolean {
  if (outcome === 'unstable' || outcome === 'skipped' || before === null || after === null) return false
  return !(outcome === 'equal' && 'error' in before && 'error' in after)
}

function isDifferent({ outcome }: ComparedCall, accept: readonly Accepted[]): boolean {
  if (outcome === 'equal') return false
  return outcome !== 'reordered' || !accept.includes('order')
}

function differenceOf({ parameters, source, outcome, before, after, comparison }: JudgedCall, to: Dialect): Difference {
  const rows = (comparison?.sample ?? []).filter((row) => JSON.stringify(row).length <= maxRowChars)
  const { added = null, removed = null, changed = null } = comparison ?? {}
  const error = after !== null && 'error' in after ? after.error : null
  const old = before !== null && 'error' in before ? before.error : null
  const because =
    error !== null
      ? `On ${to}: ${error.message}`
      : old !== null
        ? `Only ${to} answers it. The engine of today says: ${old.message}`
        : outcome === 'reordered'
          ? 'The same rows in another order.'
          : null
  return { parameters, source, because, added, removed, changed, rows }
}

function sayDifferent(bad: readonly JudgedCall[], compared: number): string {
  if (bad.every(({ outcome }) => outcome === 'reordered')) {
    return 'The same rows in another order. Order them by columns that leave no ties, or accept any order.'
  }
  return `Other rows for ${bad.length} of ${compared} ${compared === 1 ? 'set' : 'sets'} of values.`
}

function sayUnchecked(calls: readonly JudgedCall[]): string {
  const because = calls.find((call) => call.because !== null)?.because
  if (calls.length > 0) return because ?? 'Both engines refuse every set of values that there is.'
  return 'It needs values, and there are none to compare on: give parameters, or examples, or record calls.'
}
