import type { Caller } from '../../access/index.ts'
import type { ReplayReport } from '../../store/index.ts'
import type { VersionPair } from './version-pairs.ts'

/**
 * The replay that the check of a release asks for: how would recorded calls be answered? A port: queries know
 * nothing of how calls are recorded and compared. Null where the project records none.
 */
export type Rehearsal = {
  run(
    caller: Caller,
    input: { projectId: string; environment: string; candidates: VersionPair[] },
  ): Promise<ReplayReport | null>
}
