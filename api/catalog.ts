import { z } from 'zod'
import { forEach, httpConfiguration, pagination } from './connections.ts'
import { changeLoad } from './datasources.ts'
import { displayName, slug } from './envelope.ts'
import { newQuery } from './queries.ts'

/**
 * An entry of the catalog: an API that people have, as connections that are ready. `{token}` stands for what whoever
 * adds it gives; `catalog-definition.ts` makes a definition of both.
 */

export const catalogCategories = ['code', 'data', 'mail', 'money', 'operations', 'sales', 'work'] as const

const text = z.string().trim().min(1)

const input = z
  .strictObject({
    label: text.max(60),
    help: text.max(200).optional().meta({ description: 'Where it is found, in the words of the vendor.' }),
    secret: z.boolean().optional().meta({ description: 'Kept as a secret, for the hosts of this API only.' }),
    default: text.optional(),
    example: text.optional().meta({ description: 'What one looks like. Of a secret, how it begins.' }),
  })
  .refine(({ secret, default: usual }) => secret !== true || usual === undefined, 'a secret has no default')

const scalar = z.union([z.string(), z.number(), z.boolean()])

const table = z.strictObject({
  about: text.max(120),
  operation: z
    .string()
    .regex(/^(GET|POST) \/\S*$/, 'must be a method and a path')
    .meta({
      description: 'The operation of the document, as it is written there: `GET /repos/{owner}/{repo}/issues`.',
    }),
  document: text.optional().meta({ description: 'Path of its document, where the vendor has several.' }),
  path: z.record(z.string(), z.string()).optional().meta({
    description: 'Values of the parameters of the path. Without one, the input of the same name.',
  }),
  parameters: z.record(z.string(), z.union([scalar, z.array(scalar)])).optional(),
  headers: z.record(z.string(), z.string()).optional(),
  body: httpConfiguration.shape.body,
  rows: z.string().optional().meta({ description: 'Where the rows are: a `responsePathExtractor`.' }),
  pagination: pagination.optional(),
  for_each: forEach.optional(),
  load: changeLoad.optional(),
  schedule: text
    .optional()
    .meta({ description: 'A cron expression that suits how its data changes; once a day if absent.' }),
})

const query = newQuery.pick({ description: true, sql: true, slots: true }).extend({
  questions: z
    .array(z.strictObject({ question: text, parameters: z.record(z.string(), z.unknown()).optional() }))
    .min(1)
    .max(5),
})

export const catalogEntry = z.strictObject({
  title: displayName,
  about: text.max(160),
  category: z.enum(catalogCategories),
  credentials: z.url().optional().meta({ description: 'Where whoever adds it makes the token.' }),
  document: z
    .strictObject({
      repository: z
        .string()
        .regex(/^[\w.-]+\/[\w.-]+$/)
        .optional(),
      package: z.string().optional(),
      path: text,
    })
    .refine(
      (given) => (given.repository === undefined) !== (given.package === undefined),
      'needs a repository or a package',
    )
    .meta({
      description: 'The OpenAPI document of the vendor: its GitHub repository or npm package, and its path there.',
    }),
  inputs: z.record(slug, input).optional(),
  api: z.strictObject({
    url: text.meta({ description: 'What the paths of the operations follow.' }),
    headers: z.record(z.string(), z.string()).optional(),
    parameters: z.record(z.string(), z.string()).optional(),
    authType: httpConfiguration.shape.authType,
    auth: httpConfiguration.shape.auth,
  }),
  tables: z.record(slug, table).refine((tables) => Object.keys(tables).length > 0, 'names no table'),
  queries: z.record(slug, query).optional(),
})

/** As it is written: nothing is filled in. */
export type CatalogEntry = z.input<typeof catalogEntry>
