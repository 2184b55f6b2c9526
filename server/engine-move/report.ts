import type { Value } from '../../api/wire-codec.ts'
import type { engineMove } from '../../api/engine-moves.ts'
import { Failure } from '../failure.ts'
import type { Dialect } from '../store/index.ts'

export type MoveStatus = 'same' | 'different' | 'cannot' | 'unchecked' | 'excluded'

/** A call that the two engines answer differently. */
export type Difference = TextReport['differences'][number]

/** How one text of a query does on the new engine. */
export type TextReport = MoveReport['queries'][number]

export type MoveReport = Value<typeof engineMove>

/** 12 texts, compared over 30 sets of values: 9 the same, 2 different, 1 unchecked. */
export function sayMove({ from, to }: { from: Dialect; to: Dialect }, queries: readonly TextReport[]): string {
  if (queries.length === 0) return `There is nothing written for ${from}, so nothing to compare with ${to}.`
  const words: Record<MoveStatus, string> = {
    same: 'the same',
    different: 'different',
    cannot: `that ${to} cannot run`,
    unchecked: 'unchecked',
    excluded: 'left out',
  }
  const parts = (Object.keys(words) as MoveStatus[]).flatMap((status) => {
    const count = queries.filter((each) => each.status === status).length
    return count === 0 ? [] : [`${count} ${words[status]}`]
  })
  const compared = queries.reduce((sum, each) => sum + each.compared, 0)
  const [texts, sets] = [counted(queries.length, 'text'), counted(compared, 'set')]
  return `${texts}, compared over ${sets} of values: ${parts.join(', ')}.`
}

function counted(count: number, what: string): string {
  return `${count} ${what}${count === 1 ? '' : 's'}`
}

const maxNamed = 5

export function refusedMove({ to, queries, summary }: MoveReport): Failure {
  const blocking = queries.filter(({ blocks }) => blocks)
  const details = blocking.map(({ name, status, because }) => ({ field: name, message: because ?? status }))
  const names = blocking.slice(0, maxNamed).map(({ name }) => name)
  const rest = blocking.length > maxNamed ? ` and ${blocking.length - maxNamed} more` : ''
  return new Failure('conflict', {
    reason: 'engines_differ',
    message: `Nothing was switched: ${names.join(', ')}${rest} would not be on ${to} what they are. Rewrite, accept or exclude them; check=true shows what differs. ${summary}`,
    details,
  })
}
