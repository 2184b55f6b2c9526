import type { Caller } from '../../access/index.ts'
import type { ReplayReport } from '../../store/index.ts'
import type { VersionPair } from './version-pairs.ts'

/**
 * What the check of a release asks of whoever recorded calls: what do they come to on what is new? A port: queries know
 * nothing of how calls are recorded and compared. Null where the project records none.
 */
export type Rehearsal = {
  run(
    caller: Caller,
    input: { projectId: string; environment: string; candidates: VersionPair[] },
  ): Promise<ReplayReport | null>
}
