import { worstOf, type Mood, type Part } from '../../parts/text/moods.ts'
import { sayCount } from '../../text/words.ts'
import type { Release, Replay } from '../deploy/shared/wire.ts'
import { sayRouting } from '../deploy/shared/words.ts'
import { sayQueries } from './release-words.ts'

export type ReleaseVerdict = { says: string; mood: Mood; parts: Part[] }

/** One verdict on a release, planned or past: that of the worst of columns and slots, questions, and recorded calls. */
export function judgeRelease(release: Release, replay: Replay | null): ReleaseVerdict {
  const parts = [judgeContracts(release), judgeQuestions(release), ...(replay === null ? [] : [judgeCalls(replay)])]
  const mood = worstOf(parts.map((part) => part.mood))
  return { says: sayWhole(release, parts, mood), mood, parts }
}

/** A release that is still ahead is told in the future. */
export function isAhead({ status }: Pick<Release, 'status'>): boolean {
  return status === 'checked'
}

function sayWhole(release: Release, [contracts, ...others]: Part[], mood: Mood): string {
  const ahead = isAhead(release)
  if (contracts?.mood === 'bad') return ahead ? 'Existing callers would break.' : 'It broke existing callers.'
  if (others.some((part) => part.mood === 'bad'))
    return ahead ? 'Existing callers would get errors.' : 'Existing callers got errors.'
  if (mood === 'caution')
    return ahead ? 'Existing callers would get other answers.' : 'Existing callers got other answers.'
  if (release.queries.every(({ compatibility }) => compatibility === 'first'))
    return ahead ? 'No caller is affected: all of it is new.' : 'No caller was affected: all of it was new.'
  return ahead ? 'No difference for existing callers was found.' : 'No breaking change.'
}

function judgeContracts({ queries, ...release }: Release): Part {
  const what = 'Columns and slots'
  const count = (kind: Release['queries'][number]['compatibility']): number =>
    queries.filter(({ compatibility }) => compatibility === kind).length
  const ahead = isAhead(release)
  if (count('breaking') > 0) {
    const broken = sayQueries(count('breaking'))
    return {
      what,
      says: ahead ? `callers of ${broken} would break.` : `callers of ${broken} broke.`,
      mood: 'bad',
    }
  }
  if (count('first') === queries.length)
    return { what, says: 'nothing answered under these names before.', mood: 'plain' }
  if (count('additive') > 0) return { what, says: `only additions, in ${sayQueries(count('additive'))}.`, mood: 'good' }
  return { what, says: 'as before.', mood: 'good' }
}

function judgeQuestions(release: Release): Part {
  const { checked, regressions } = release.routing
  const mood = regressions.length > 0 ? 'caution' : checked === 0 ? 'plain' : 'good'
  return { what: 'Questions', says: sayRouting(release, isAhead(release)), mood }
}

function judgeCalls({ calls, different, failed, unstable, reordered, status }: Replay): Part {
  const what = 'Recorded calls'
  if (calls === 0) return { what, says: 'none were run.', mood: 'plain' }
  const of = `of ${sayCount(calls, 'call')}${status === 'running' ? ' so far' : ''}`
  const bad = [
    ...(different > 0 ? [`${different} ${different === 1 ? 'gets' : 'get'} other rows`] : []),
    ...(failed > 0 ? [`${failed} ${failed === 1 ? 'fails' : 'fail'}`] : []),
    ...(reordered > 0 ? [`${reordered} ${reordered === 1 ? 'gets' : 'get'} the same rows in another order`] : []),
    ...(unstable > 0
      ? [`${unstable} ${unstable === 1 ? 'changes' : 'change'} from call to call, which says nothing`]
      : []),
  ]
  if (bad.length === 0)
    return { what, says: `${of}, all are answered as before.`, mood: status === 'running' ? 'plain' : 'good' }
  const mood = failed > 0 ? 'bad' : different + reordered > 0 ? 'caution' : 'plain'
  return { what, says: `${of}, ${bad.join(', ')}.`, mood }
}

/** Calls that somebody should look at before the release. */
export function changedCalls(replay: Replay | null): number {
  return replay === null ? 0 : replay.different + replay.failed
}
