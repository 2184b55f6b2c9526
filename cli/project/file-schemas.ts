import { z } from 'zod'
import { definedApi } from '../../api/apis.ts'
import { definedAlert, definedConnection, definedEvaluation, definition } from '../../api/definition.ts'
import { rowTest } from '../../api/row-tests.ts'
import { modelHeader, queryHeaderFile } from './query-file.ts'
import { ownSettings } from './settings.ts'

/** Where a project keeps the schemas of its files, so that editors complete and check them. */
export const schemaFolder = '.sluice/schemas'

/** `sluice.yaml`. */
export const projectSettings = z.strictObject({
  definition: definition.shape.definition,
  ...ownSettings.shape,
  environments: definition.shape.environments,
  settings: definition.shape.settings,
  variables: definition.shape.variables,
})

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
