import { z } from 'zod'
import { displayName, slug, timestamp } from './envelope.ts'
import { role } from './people.ts'

export const engine = z.enum(['duckdb', 'trino'])

export const newProject = z.strictObject({
  name: displayName,
  engine: engine.default('duckdb').meta({
    description: 'What answers its queries, and so what their SQL is written in. `trino` where the server has one.',
  }),
})

const octet = '(?:25[0-5]|2[0-4][0-9]|1[0-9][0-9]|[1-9]?[0-9])'
const rest = '(?:[a-z0-9-]{0,61}[a-z0-9])?'
// As a pattern, so that the document says it: a browser's spelling, without the port that goes without saying.
const origins = new RegExp(
  `^https?://(?:(?:[a-z0-9]${rest}\\.)*[a-z]${rest}|(?:${octet}\\.){3}${octet})` +
    '(?::(?!80$|443$)(?:[1-9][0-9]{0,3}|[1-5][0-9]{4}|6[0-4][0-9]{3}|65[0-4][0-9]{2}|655[0-2][0-9]|6553[0-5]))?$',
)
const origin = z.string().trim().max(300).regex(origins, 'must be an origin such as https://app.example')

export const changeProject = z.strictObject({
  name: displayName.optional(),
  allowed_origins: z.array(origin).max(100).optional().meta({
    description: 'Origins whose web pages may read answers of the query endpoints (CORS). None by default.',
  }),
  query_links: z.boolean().optional().meta({
    description: 'Whether links to queries may be made, and answer. Off by default; off, none of them answers.',
  }),
})
export const project = z
  .object({
    id: z.string(),
    name: z.string(),
    allowed_origins: z.array(z.string()),
    query_links: z.boolean().meta({ description: 'Whether links to its queries answer.' }),
    engine: engine.meta({ description: 'What answers its queries.' }),
    role: role.meta({ description: "The caller's own role." }),
    is_example: z.boolean().meta({ description: 'Whether it came with the installation, to be looked at.' }),
    created_at: timestamp,
  })
  .meta({ id: 'Project' })

export const newEnvironment = z.strictObject({ name: slug })
export const environment = z.object({ name: z.string(), created_at: timestamp }).meta({ id: 'Environment' })

export const sharedReference = z
  .object({ environment: z.string(), created_at: timestamp })
  .meta({ id: 'SharedReference' })

export const createdSharedReference = sharedReference
  .extend({ link: z.string().meta({ description: 'Shown once. Whoever has it may read the reference.' }) })
  .meta({ id: 'CreatedSharedReference' })

export const readSharedReference = z.strictObject({
  token: z.string().max(200).meta({ description: 'What stands after # in the link.' }),
})
