import { z } from 'zod'
import { displayName, slug, timestamp } from './envelope.ts'
import { role } from './people.ts'

export const newProject = z.strictObject({ name: displayName })

const origin = z
  .string()
  .trim()
  .max(300)
  .refine(
    (text) => URL.canParse(text) && new URL(text).origin === text,
    'must be an origin such as https://app.example',
  )

export const changeProject = z.strictObject({
  name: displayName.optional(),
  allowed_origins: z.array(origin).max(100).optional().meta({
    description: 'Origins whose web pages may read answers of the query endpoints (CORS). None by default.',
  }),
})
export const project = z
  .object({
    id: z.string(),
    name: z.string(),
    allowed_origins: z.array(z.string()),
    role: role.meta({ description: "The caller's own role." }),
    created_at: timestamp,
  })
  .meta({ id: 'Project' })

export const newEnvironment = z.strictObject({ name: slug })
export const environment = z.object({ name: z.string(), created_at: timestamp }).meta({ id: 'Environment' })
