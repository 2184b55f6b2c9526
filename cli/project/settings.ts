import { z } from 'zod'
import { isRecord } from './references.ts'
import { readYaml } from './yaml-text.ts'

/** The part of `sluice.yaml` for the command line itself, which every command reads; the rest is of the definition. */
export const ownSettings = z.strictObject({
  url: z
    .string()
    .min(1)
    .max(2_000)
    .optional()
    .meta({ description: 'Where the service is. SLUICE_URL goes before it.' }),
  project: z.string().min(1).max(200).optional().meta({ description: 'The id of the project, prj_….' }),
  environment: z
    .string()
    .max(63)
    .optional()
    .meta({ description: 'Where `plan` and `release` go unless they are told otherwise; `production` unless given.' }),
  token: z
    .string()
    .regex(/^\$\{[A-Za-z_][A-Za-z0-9_]*\}$/, 'must be ${NAME}: a token is never written into a file')
    .optional()
    .meta({ description: '`${NAME}`: the variable that holds the management token, instead of SLUICE_TOKEN.' }),
})
export type ProjectSettings = z.output<typeof ownSettings>

/** The settings that can be read, whatever else the file holds. */
export function readSettings(text: string): ProjectSettings {
  const { data } = readYaml('', text)
  if (!isRecord(data)) return {}
  const known = Object.entries(ownSettings.shape).flatMap(([name, schema]) => {
    const parsed = schema.safeParse(data[name])
    return parsed.success && parsed.data !== undefined ? [[name, parsed.data]] : []
  })
  return Object.fromEntries(known)
}
