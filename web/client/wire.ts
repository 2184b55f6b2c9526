import type { z } from 'zod'
import type * as apis from '../../api/apis.ts'
import type * as alerts from '../../api/alerts.ts'
import type * as authorization from '../../api/authorization-server.ts'
import type * as data from '../../api/data.ts'
import type * as datasources from '../../api/datasources.ts'
import type * as engineMoves from '../../api/engine-moves.ts'
import type * as jobs from '../../api/jobs.ts'
import type * as lineage from '../../api/lineage.ts'
import type * as apiKeys from '../../api/keys.ts'
import type * as oauth from '../../api/oauth.ts'
import type * as people from '../../api/people.ts'
import type * as projects from '../../api/projects.ts'
import type * as queries from '../../api/queries.ts'
import type * as queryLinks from '../../api/query-links.ts'
import type * as questions from '../../api/questions.ts'
import type * as replays from '../../api/replays.ts'
import type * as service from '../../api/service.ts'
import type * as variables from '../../api/variables.ts'

/** The API's shapes by name. Types only: the schema library stays out of the pages. */
export type User = z.output<typeof people.user>
export type Role = z.output<typeof people.role>
export type Member = z.output<typeof people.member>
export type SharedReference = z.output<typeof projects.sharedReference>
export type CreatedSharedReference = z.output<typeof projects.createdSharedReference>
export type QueryLink = z.output<typeof queryLinks.queryLink>
export type CreatedQueryLink = z.output<typeof queryLinks.createdQueryLink>
export type Invitation = z.output<typeof people.invitation>
export type CreatedInvitation = z.output<typeof people.createdInvitation>
export type InvitationPreview = z.output<typeof people.invitationPreview>
export type ManagementToken = z.output<typeof people.managementToken>
export type CreatedManagementToken = z.output<typeof people.createdManagementToken>
export type AuditEntry = z.output<typeof people.auditEntry>
export type Project = z.output<typeof projects.project>
export type EngineMove = z.output<typeof engineMoves.engineMove>
export type MoveEngine = z.input<typeof engineMoves.moveEngine>
export type Datasource = z.output<typeof datasources.datasource>
export type DataObject = z.output<typeof data.dataObject>
export type Query = z.output<typeof queries.query>
export type ProjectMap = z.output<typeof lineage.projectMap>
export type Job = z.output<typeof jobs.job>
export type QuestionSettings = z.output<typeof questions.questionSettings>
export type ReplaySettings = z.output<typeof replays.replaySettings>
export type Limit = z.output<typeof service.limitEntry>
export type Variable = z.output<typeof variables.variable>
export type Api = z.output<typeof apis.api>
export type NewApi = z.input<typeof apis.newApi>
export type NewVariable = z.input<typeof variables.newVariable>
export type Environment = z.output<typeof projects.environment>
export type FinishedAuthorization = z.output<typeof oauth.finishedAuthorization>
export type ReturnedAuthorization = z.input<typeof oauth.returnedAuthorization>

export type ShownClient = z.output<typeof authorization.shownClient>
export type ApprovedClient = z.output<typeof authorization.approvedClient>

export type ApproveClient = z.input<typeof authorization.approveClient>
export type ApproveProgram = z.input<typeof authorization.approveProgram>
export type ProgramPermission = Pick<ApproveProgram, 'role' | 'project_id'>
export type WaitingDevice = z.output<typeof authorization.waitingDevice>
export type DecideDevice = z.input<typeof authorization.decideDevice>
export type NewInvitation = z.input<typeof people.newInvitation>
export type AcceptInvitation = z.input<typeof people.acceptInvitation>
export type NewManagementToken = z.input<typeof people.newManagementToken>
export type UpdateSelf = z.input<typeof people.updateSelf>

export type ApiKey = z.output<typeof apiKeys.apiKey>
export type Alert = z.output<typeof alerts.alert>

export type Page<Item> = { data: Item[]; next_cursor: string | null }
