import type { z } from 'zod'
import type * as keys from '../../../../api/keys.ts'
import type * as questions from '../../../../api/questions.ts'
import type * as queries from '../../../../api/queries.ts'
import type * as releases from '../../../../api/releases.ts'
import type * as replays from '../../../../api/replays.ts'

export type { SlotSchema, SlotsSchema } from '../../../../api/slots.ts'

export type { Query } from '../../../client/wire.ts'
export type LiveDeployment = z.output<typeof queries.liveDeployment>
export type VersionEntry = z.output<typeof queries.versionEntry>
export type Version = z.output<typeof queries.version>
export type VersionsDiff = z.output<typeof queries.versionsDiff>
export type HistoryEntry = z.output<typeof queries.historyEntry>
/** The report of a deployment, planned or done. */
export type DeployReport = z.output<typeof queries.deployment>

export type Release = z.output<typeof releases.release>
export type Replay = z.output<typeof replays.replay>
export type ReplayCallEntry = z.output<typeof replays.replayCallEntry>
export type ReplayCall = z.output<typeof replays.replayCall>
export type ReplayOutcome = ReplayCallEntry['outcome']
export type ReleaseEntry = z.output<typeof releases.releaseEntry>

export type { ApiKey } from '../../../client/wire.ts'
export type CreatedApiKey = z.output<typeof keys.createdApiKey>
export type NewApiKey = z.input<typeof keys.newApiKey>
export type ChangeApiKey = z.input<typeof keys.changeApiKey>
export type Permission = NewApiKey['permissions'][number]
export type KeyAddress = z.output<typeof keys.keyAddress>
export type Plan = z.output<typeof keys.plan>
export type Reach = z.output<typeof keys.reach>

export type Unexpressed = z.output<typeof questions.unexpressed>
export type Routing = z.output<typeof questions.routing>
export type QuestionGroup = z.output<typeof questions.questionGroup>
export type CounterExample = z.output<typeof questions.counterExample>
export type Evaluation = z.output<typeof questions.evaluation>
export type EvaluationRun = z.output<typeof questions.evaluationRun>
export type TriedQuestion = z.output<typeof questions.triedQuestion>
export type LoggedQuestion = z.output<typeof questions.loggedQuestion>
