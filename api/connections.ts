import { z } from 'zod'
import { authRules, authType, checkAuth, filled, url } from './authentication.ts'
import { heldBecause, loadWarnings } from './data.ts'
import { slug } from './envelope.ts'
import { fixedLimits } from './limits.ts'

/** The wire of the HTTP operations: configuration, test, execute, pagination, and import of a cURL command. */

const testMethods = ['GET', 'POST', 'PUT', 'DELETE', 'PATCH', 'HEAD', 'OPTIONS'] as const
const executeMethods = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'] as const

function method<const Names extends readonly [string, ...string[]]>(names: Names) {
  const written = z.string('is required').meta({ enum: [...names] })
  const upper = written.transform((text) => text.trim().toUpperCase())
  return upper.pipe(z.enum(names, `must be one of ${names.join(', ')}`))
}

const scalar = z.union([z.string(), z.number(), z.boolean(), z.null()], 'must be text, a number, true, false or null')
const parameter = z.strictObject({
  value: z.union([scalar, z.array(scalar)], 'must be a single value or a list of them').optional(),
  required: z.boolean('must be true or false').default(false),
  secret: z
    .boolean('must be true or false')
    .optional()
    .meta({ description: 'Keeps the value sealed and shows `***`, whatever the name.' }),
})
const parameters = z.record(z.string(), parameter)

const parameterGroup = z.strictObject({
  name: z.string().min(1, 'must not be empty').max(200),
  active: z.boolean('must be true or false').optional(),
  parameters,
})

export const bodyTypes = ['json', 'form', 'multipart', 'raw', 'graphql'] as const

const header = z.union(
  [z.string(), z.strictObject({ value: z.string(), secret: z.boolean().optional() })],
  'must be text, or an object of value and secret',
)

const body = z.record(z.string(), z.unknown()).meta({
  description:
    '`{type, content, content_type?, secret?}`, or any other object as JSON. Fields with a secret name, and raw text, are ' +
    'kept sealed and shown as `***`; `secret` is true for the whole content, or a list of the paths of further fields.',
})

/** Values of an answer at which a step is done, or has failed. */
const stepValues = z
  .array(z.union([z.string().max(200), z.number(), z.boolean()]))
  .min(1)
  .max(20)

/** A request that is made of the answer to the one before it. */
const requestStep = z.strictObject({
  url: url.meta({
    description:
      'A path (behind the address of its API, or on the same host), or what an answer gives: `/exports/{{start:id}}`, `{{answer:url}}`, `{{start_header:location}}`.',
  }),
  method: method(executeMethods).prefault('GET'),
  headers: z.record(z.string().min(1).max(200), z.string().max(4_000)).optional(),
  body: body.optional(),
  until: z
    .strictObject({
      path: z.string().min(1).max(fixedLimits.extractorChars.value).optional().meta({
        description: 'Where the answer says how far it is: `status`. Without it, the step waits while it is 202.',
      }),
      is: stepValues
        .optional()
        .meta({ description: 'What says that it is done; without it, any value that is there.' }),
      fails: stepValues.optional().meta({ description: 'What says that it never will be.' }),
      every_seconds: z.int().min(1).max(3_600).default(5),
    })
    .optional()
    .meta({ description: 'The request is made again until its answer says so, as long as the load may take.' }),
})
export type RequestStep = z.output<typeof requestStep>

const steps = z
  .array(requestStep)
  .min(1)
  .max(fixedLimits.requestSteps.value)
  .refine(
    (given) => given.at(-1)?.until === undefined,
    'end with a request that waits: add the one that brings the rows',
  )
  .meta({
    description:
      'Exports: the request starts one, a step waits until it is ready, and the last step brings the rows. `{{start:path}}` is a value of the first answer, `{{answer:path}}` of the one before.',
  })

const common = {
  url,
  api: slug.optional().meta({
    description:
      'An API of the project: its address goes before `url`, and what it says counts where this says nothing.',
  }),
  headers: z.record(z.string(), header).optional().meta({
    description: 'Text by name, or `{value, secret: true}` for a value that is kept sealed whatever its name.',
  }),
  parameters: parameters.optional(),
  parameterGroups: z.array(parameterGroup).optional(),
  authType: authType.optional(),
  auth: z
    .record(z.string(), z.unknown())
    .optional()
    .meta({
      description:
        'By `authType`: `key`, `value`, `in`; `token`, `prefix`; `username`, `password`; and for OAuth2 `token_url`, `client_id`, ' +
        '`client_secret`, `client_auth`, `scope`, `audience`, `parameters`, with an authorization code also `authorization_url` and ' +
        '`refresh_token`; for a login request `token_url`, `body`, `body_type`, `token_from`, `token_path`, `expires_path`, ' +
        '`expires_unit`, `lifetime_seconds`, `in`, `key`, `prefix`; for what is signed see the guide.',
    }),
  environment: slug.optional().meta({
    description: 'Whose variables and secrets `{{var:name}}` and `{{secret:name}}` mean before those of the project.',
  }),
  responsePathExtractor: z
    .string()
    .max(fixedLimits.extractorChars.value, `has more than ${fixedLimits.extractorChars.value} characters`)
    .optional(),
  included: z.boolean('must be true or false').optional().meta({
    description:
      'JSON:API: each row gets the resources of `included` that its relationships name, in columns called after these.',
  }),
  steps: steps.optional(),
}

export const httpConfiguration = z.strictObject({ ...common, method: method(testMethods), body: body.optional() })
export type HttpConfiguration = z.output<typeof httpConfiguration>

/** The part of requests that an API of the project says once. */
export const apiConfiguration = httpConfiguration
  .pick({ headers: true, parameters: true, authType: true, auth: true, environment: true })
  .extend({
    url: url.meta({ description: 'The base address: `https://api.example/v1`. A connection adds its path.' }),
  })
export type ApiConfiguration = z.output<typeof apiConfiguration>

/** With `project_id` and `datasource_id`, `***` stands for the secret that is stored there, for the same address. */
export const testConnectionRequest = httpConfiguration
  .extend({
    project_id: z.string().min(1).optional(),
    datasource_id: z.string().min(1).optional(),
    last_value: z
      .union([z.string().min(1).max(200), z.number()])
      .optional()
      .meta({ description: 'What `{{last_value}}` stands for; without it, the `initial_value` of the datasource.' }),
    api_config: apiConfiguration.optional().meta({
      description:
        'The API that `api` names, as it is to be tested: in place of the one that is stored, or before there is one.',
    }),
    detect: z
      .boolean('must be true or false')
      .optional()
      .meta({ description: 'Asks for `detected`: where the rows seem to be and how the answer seems to go on.' }),
  })
  .superRefine(checkAuth)
  .meta(authRules)

export const outboundErrorCodes = [
  'dns_error',
  'connect_error',
  'token_refused',
  'tls_error',
  'timeout',
  'rate_limited',
  'transfer_error',
  'too_large',
  'too_many_redirects',
  'blocked',
  'url_not_allowed',
] as const
export type OutboundErrorCode = (typeof outboundErrorCodes)[number]

export const testConnectionAnswer = z.strictObject({
  success: z.boolean(),
  status: z.int(),
  response_time: z.int(),
  content_type: z.string(),
  size: z.int(),
  data: z.unknown(),
  truncated: z.boolean().optional(),
  detected: z
    .strictObject({
      rows: z
        .strictObject({ path: z.string(), count: z.int() })
        .nullable()
        .meta({ description: 'Where the rows seem to be: a `responsePathExtractor`.' }),
      pagination: z
        .record(z.string(), z.unknown())
        .nullable()
        .meta({ description: 'How the answer seems to go on: a `pagination` to take over.' }),
      body: z
        .record(z.string(), z.unknown())
        .optional()
        .meta({ description: 'GraphQL: the query with what `pagination` needs in it, to take over with it.' }),
      included: z.literal(true).optional().meta({ description: 'JSON:API: the answer includes resources to join.' }),
      primary_key: z.array(z.string()).optional().meta({ description: 'What tells a row, as OData metadata says.' }),
      columns: z
        .array(z.strictObject({ source_name: z.string(), type: z.string() }))
        .optional()
        .meta({ description: 'Types that OData metadata names, as the schema of a table takes them.' }),
    })
    .optional()
    .meta({ description: 'With `detect`: what the whole answer looks like, where it is JSON.' }),
  problem: z
    .strictObject({
      code: z.enum([
        'unauthorized',
        'forbidden',
        'not_found',
        'rate_limited',
        'server_error',
        'not_data',
        'upstream_errors',
        'not_ready',
      ]),
      message: z.string(),
    })
    .optional()
    .meta({
      description:
        'Why the answer is no data. `not_data` is a web page where data was expected, `not_ready` an export that takes longer than a test.',
    }),
  error: z
    .strictObject({
      code: z.enum([...outboundErrorCodes, 'extractor_no_match', 'too_deep', 'not_tabular']),
      message: z.string(),
    })
    .optional(),
})
export type TestConnectionAnswer = z.output<typeof testConnectionAnswer>

const placeOfParameter = z.enum(['query', 'body'], 'must be query or body').default('query').meta({
  description: 'Where the parameter goes. In the body it is a path: `variables.after`, `from`, `search_after`.',
})

/** How the rows of further pages are found. Beyond the specification; a setting of the datasource. */
export const pagination = z.discriminatedUnion('type', [
  z.strictObject({ type: z.literal('link_header'), ...pageEnds() }),
  z.strictObject({ type: z.literal('next_link'), path: filled('the path of the link'), ...pageEnds() }),
  z.strictObject({
    type: z.literal('cursor'),
    path: filled('the path of the cursor'),
    from: z
      .enum(['body', 'last_row'], 'must be body or last_row')
      .default('body')
      .meta({ description: 'What `path` begins at: the answer, or the last row of the page (`starting_after`).' }),
    parameter: filled('the parameter of the cursor'),
    in: placeOfParameter,
    ...pageEnds(),
  }),
  z.strictObject({
    type: z.literal('offset'),
    parameter: z.string().min(1).default('offset'),
    limit_parameter: z.string().min(1).default('limit'),
    limit: z.int().min(1).max(100_000).default(100),
    in: placeOfParameter,
    stop_when: stopWhen(),
    ...pageEnds(),
  }),
  z.strictObject({
    type: z.literal('page'),
    parameter: z.string().min(1).default('page'),
    first: z.int().min(0).max(1).default(1),
    in: placeOfParameter,
    stop_when: stopWhen(),
    ...pageEnds(),
  }),
])
export type Pagination = z.output<typeof pagination>

/** A request for each row of another table. A setting of the datasource. */
export const forEach = z.strictObject({
  table: slug.meta({ description: 'The table whose rows the request names: `{{row.id}}` is the column `id` of one.' }),
  keys: z
    .record(z.string().min(1).max(200), z.string().min(1).max(200))
    .optional()
    .meta({
      description:
        'Columns of the rows that come and the columns of the other table that fill them. Without it, each column that ' +
        'the request names, called `<table>_<column>`.',
    }),
  max_requests: z.int().min(1).max(fixedLimits.childRequests.value).default(10_000),
})
export type ForEach = z.output<typeof forEach>

function stopWhen() {
  return z.enum(['empty', 'short'], 'must be empty or short').optional().meta({
    description: 'Which page is the last: one without rows, or one with fewer than the first.',
  })
}

function pageEnds() {
  return {
    has_more_path: z
      .string()
      .min(1)
      .max(fixedLimits.extractorChars.value)
      .optional()
      .meta({ description: 'Where the answer says whether there is more: `has_more`, `data.pageInfo.hasNextPage`.' }),
    max_pages: z.int().min(1).max(fixedLimits.loadPages.value).default(1_000),
  }
}

const config = z.strictObject({
  ...common,
  url: url.optional(),
  method: method(executeMethods).optional(),
  body: body.optional(),
})

/** `connect_spec.config` wins field by field; the top level fills in what it leaves out. */
export const executeRequest = z.strictObject({
  project_id: filled('the project'),
  datasource_id: filled('the datasource'),
  connect_spec: z.strictObject({
    name: z.string().min(1, 'must not be empty').max(200),
    id: z.literal('http_api', 'must be http_api'),
    config: config.default({}),
  }),
  ...common,
  method: method(executeMethods),
  body: body.optional(),
  pagination: pagination.optional(),
})
export type ExecuteRequest = z.output<typeof executeRequest>

const job = z.strictObject({
  id: z.string(),
  job_type: z.string(),
  status: z.string(),
  project_id: z.string(),
  source: z.string(),
  source_id: z.string(),
  source_event_type: z.string(),
  created_at: z.iso.datetime(),
})

export const executeAnswer = z.strictObject({
  jobs: z.array(job),
  data_object_id: z.string(),
  truncated: z.boolean().optional(),
  held_because: heldBecause.optional(),
  warnings: loadWarnings.optional(),
})

export const curlImportRequest = z.strictObject({
  command: z.string('is required').min(1).max(fixedLimits.curlChars.value),
})
export const curlImportAnswer = z.strictObject({
  configuration: z.record(z.string(), z.unknown()).meta({ description: 'An HTTP request configuration.' }),
  notes: z.array(z.string()).meta({ description: 'What of the command could not be taken over, in words.' }),
})

/** A document of the upstream: its text, or where it is. */
export const documentImportRequest = z
  .strictObject({
    text: z.string().min(1).max(fixedLimits.importChars.value).optional(),
    url: url.optional(),
    operation: z.string().min(1).max(1_000).optional().meta({
      description: 'The `id` of the operation to make a connection of. Without it, the operations are listed.',
    }),
  })
  .meta({ oneOf: [{ required: ['text'] }, { required: ['url'] }] })
export const documentImportAnswer = z.strictObject({
  kind: z.enum(['openapi', 'postman']),
  operations: z.array(z.strictObject({ id: z.string(), method: z.string(), url: z.string(), summary: z.string() })),
  truncated: z.boolean(),
  connection: z
    .strictObject({
      name: z.string(),
      configuration: z.record(z.string(), z.unknown()).meta({ description: 'An HTTP request configuration.' }),
      pagination: z.record(z.string(), z.unknown()).nullable().meta({ description: 'How pages seem to go on.' }),
      notes: z
        .array(z.string())
        .meta({ description: 'What is still to be given, or could not be taken over, in words.' }),
    })
    .nullable(),
})
