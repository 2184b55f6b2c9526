import { z } from 'zod'
import { slug, timestamp } from './envelope.ts'
import { fixedLimits } from './limits.ts'

/** The wire of what requests name instead of holding it: `{{var:name}}` and `{{secret:name}}`. */

const value = z.string('is required').max(fixedLimits.variableChars.value)
const origins = z.array(z.string().min(1).max(300)).max(20).meta({
  description: 'Where a secret may be sent, as scheme, host and port: `https://api.example`. A variable has none.',
})

export const newVariable = z.strictObject({
  name: slug,
  value,
  secret: z
    .boolean('must be true or false')
    .default(false)
    .meta({ description: 'Sealed, never shown again, and sent to its origins only.' }),
  origins: origins.optional(),
  environment: slug
    .nullable()
    .optional()
    .meta({ description: 'Goes before one of the whole project for requests with this `environment`.' }),
})
/** Another origin asks for the value of a secret again. */
export const changeVariable = z.strictObject({ value: value.optional(), origins: origins.optional() })

export const variable = z
  .object({
    id: z.string(),
    name: z.string(),
    environment: z.string().nullable(),
    secret: z.boolean(),
    value: z.string().nullable().meta({ description: 'Null for a secret.' }),
    origins: z.array(z.string()),
    created_at: timestamp,
    updated_at: timestamp,
  })
  .meta({ id: 'Variable' })
