import type { z } from 'zod'
import type * as authentication from '../../../../api/authentication.ts'
import type * as connections from '../../../../api/connections.ts'
import type * as data from '../../../../api/data.ts'
import type * as datasources from '../../../../api/datasources.ts'
import type * as models from '../../../../api/models.ts'
import type * as oauth from '../../../../api/oauth.ts'
import type * as queries from '../../../../api/queries.ts'
import type * as questions from '../../../../api/questions.ts'
import type * as slots from '../../../../api/slots.ts'

export type { DataObject, Datasource, Job, Query } from '../../../client/wire.ts'

/** The shapes that the Build tab reads and writes. Types only, as in `web/client/wire.ts`. */
export type Configuration = z.input<typeof connections.httpConfiguration>
export type Tested = connections.TestConnectionAnswer
export type Executed = z.output<typeof connections.executeAnswer>
export type CurlImport = z.output<typeof connections.curlImportAnswer>
export type DocumentImport = z.output<typeof connections.documentImportAnswer>
export type AuthType = authentication.AuthType
export type Authorization = z.output<typeof oauth.authorization>
export type BegunAuthorization = z.output<typeof oauth.begunAuthorization>
export type Pagination = connections.Pagination
export type ForEach = connections.ForEach
export type ChangeLoad = z.input<typeof datasources.changeLoad>
export type TableSchema = z.output<typeof datasources.tableSchema>
export type ChangeTableSchema = z.input<typeof datasources.changeTableSchema>
export type Check = TableSchema['checks'][number]
export type Model = z.output<typeof models.model>
export type ModelContent = z.input<typeof models.changeModel>
export type ModelComparison = z.output<typeof models.modelComparison>
export type DataVersion = z.output<typeof data.dataVersion>
export type HeldBecause = z.output<typeof data.heldBecause>
export type DescribedObject = z.output<typeof data.describedObject>
export type { ColumnProfile } from '../../../parts/cells/model.ts'
export type ObjectRows = z.output<typeof data.objectRows>
export type Lineage = z.output<typeof data.lineageGraph>
export type Inspection = z.output<typeof queries.inspection>
export type QueryAdvice = z.output<typeof queries.queryAdvice>
export type Explained = z.output<typeof queries.explainAnswer>
export type Preview = z.output<typeof queries.previewAnswer>
export type TriedQuestion = z.output<typeof questions.triedQuestion>
export type SlotsSchema = slots.SlotsSchema
export type SlotSchema = slots.SlotSchema
export type Column = { name: string; type: string }
export type Row = Record<string, unknown>
