import { z } from 'zod'
import { definedApi } from '../../api/apis.ts'
import { definedAlert, definedConnection, definedEvaluation } from '../../api/definition.ts'
import { rowTest } from '../../api/row-tests.ts'
import { modelHeader, queryHeaderFile } from './query-file.ts'
import { projectSettings } from './settings.ts'

/** Where a project keeps the schemas of its files, so that editors complete and check them. */
export const schemaFolder = '.sluice/schemas'

const schemas = {
  project: projectSettings,
  api: definedApi.omit({ name: true }),
  connection: definedConnection.omit({ table_name: true }),
  model: modelHeader,
  query: queryHeaderFile,
  test: z.object(rowTest.shape).omit({ name: true }),
  evaluations: definedEvaluation.array(),
  alert: definedAlert,
} as const satisfies Record<string, z.ZodType>

/** A JSON Schema for each kind of file, by its name. */
export function fileSchemas(): Map<string, object> {
  return new Map(
    Object.entries(schemas).map(([name, schema]) => [
      `${name}.json`,
      z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' }),
    ]),
  )
}
