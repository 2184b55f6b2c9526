import { z } from 'zod'
import { displayName, slug, timestamp } from './envelope.ts'
import { role } from './people.ts'

export const newProject = z.strictObject({ name: displayName })
export const project = z
  .object({
    id: z.string(),
    name: z.string(),
    role: role.meta({ description: "The caller's own role." }),
    created_at: timestamp,
  })
  .meta({ id: 'Project' })

export const newEnvironment = z.strictObject({ name: slug })
export const environment = z.object({ name: z.string(), created_at: timestamp }).meta({ id: 'Environment' })
