import { resolve } from 'node:path'
import { z } from 'zod'
import { planTable } from './plans.ts'

type Setting<Value> = {
  variable: string
  schema: z.ZodType<Value>
  /** How the default reads in `docs/configuration.md`. */
  fallback: string
  sentence: string
}

function setting<Value>(
  variable: string,
  schema: z.ZodType<Value>,
  fallback: string,
  sentence: string,
): Setting<Value> {
  return { variable, schema, fallback, sentence }
}

const text = z.string().min(1)
const listOr = (fallback: string) =>
  z
    .string()
    .default(fallback)
    .transform((entries) =>
      entries
        .split(',')
        .map((entry) => entry.trim())
        .filter((entry) => entry !== ''),
    )
const list = listOr('')
const url = (protocols: RegExp) => z.url({ protocol: protocols }).optional()

/** Every environment variable that is no limit. Empty counts as not given. */
export const settings = {
  port: setting(
    'PORT',
    z.coerce.number().int().min(0).max(65_535).default(4400),
    '4400',
    'TCP port; 0 takes a free one.',
  ),
  host: setting('HOST', text.default('127.0.0.1'), '127.0.0.1', 'Address to bind.'),
  publicUrl: setting(
    'SLUICE_PUBLIC_URL',
    url(/^https?$/),
    'the bound address',
    'Address under which people reach the service, for links and Origin checks behind a proxy.',
  ),
  dataDir: setting(
    'SLUICE_DATA_DIR',
    text.default('data').transform((path) => resolve(path)),
    './data',
    'Folder for everything the service keeps.',
  ),
  databaseUrl: setting(
    'SLUICE_DATABASE_URL',
    url(/^postgres(ql)?$/),
    'the embedded server',
    'PostgreSQL 15 or newer to use instead of the embedded server.',
  ),
  secretKey: setting(
    'SLUICE_SECRET_KEY',
    z.string().min(32, 'must have at least 32 characters').optional(),
    'generated into the data folder',
    'Encrypts the credentials of external APIs, and browser tokens.',
  ),
  managementToken: setting(
    'SLUICE_MANAGEMENT_TOKEN',
    z.string().min(16, 'must have at least 16 characters').optional(),
    'none',
    'A management token known in advance, for automation: it may do everything in every project.',
  ),
  trustedProxies: setting(
    'SLUICE_TRUSTED_PROXIES',
    list,
    'empty',
    'Comma-separated addresses or CIDRs of reverse proxies whose X-Forwarded-* headers are believed.',
  ),
  outboundAllow: setting(
    'SLUICE_OUTBOUND_ALLOW',
    list,
    'empty',
    'Comma-separated hosts, host:port or CIDRs that outbound calls may reach although the address guard would refuse.',
  ),
  redisUrl: setting(
    'SLUICE_REDIS_URL',
    url(/^rediss?$/),
    'none',
    'Redis in which replicas share their rate counters; without it each counts for as many as there are.',
  ),
  role: setting(
    'SLUICE_ROLE',
    z.enum(['all', 'api', 'worker']).default('all'),
    'all',
    'What this process does: `api` answers calls, `worker` runs jobs, schedules and alerts, `all` both.',
  ),
  objectsUrl: setting(
    'SLUICE_OBJECTS_URL',
    url(/^s3$/),
    'none',
    'Bucket that holds the data files, as s3://bucket/prefix; the data folder then keeps copies of what is used. Replicas share it.',
  ),
  objectsEndpoint: setting(
    'SLUICE_OBJECTS_ENDPOINT',
    url(/^https?$/),
    "Amazon's",
    'Address of an S3-compatible server. Credentials are found the way the AWS SDK finds them, such as AWS_ACCESS_KEY_ID.',
  ),
  objectsRegion: setting(
    'SLUICE_OBJECTS_REGION',
    text.optional(),
    'AWS_REGION, or us-east-1 with an endpoint',
    'Region of the bucket.',
  ),
  objectsPathStyle: setting(
    'SLUICE_OBJECTS_PATH_STYLE',
    z.enum(['on', 'off']).default('off'),
    'off',
    '`on` names the bucket in the path instead of the host, as most servers of your own want it.',
  ),
  objectsEncryption: setting(
    'SLUICE_OBJECTS_ENCRYPTION',
    z.enum(['AES256', 'aws:kms']).optional(),
    "the bucket's own",
    'Server-side encryption to ask for with every object.',
  ),
  objectsKmsKey: setting('SLUICE_OBJECTS_KMS_KEY', text.optional(), "the bucket's own", 'Key for `aws:kms`.'),
  trinoUrl: setting(
    'SLUICE_TRINO_URL',
    url(/^https?$/),
    'none',
    'Coordinator of a Trino cluster that projects may be on; needs SLUICE_DATABASE_URL, SLUICE_OBJECTS_URL and SLUICE_TRINO_RULES_KEY.',
  ),
  trinoUser: setting(
    'SLUICE_TRINO_USER',
    text.default('sluice'),
    'sluice',
    'User of Trino that makes tables and acts for the user of each project.',
  ),
  trinoPassword: setting('SLUICE_TRINO_PASSWORD', text.optional(), 'none', 'Password of that user.'),
  trinoCatalog: setting(
    'SLUICE_TRINO_CATALOG',
    z
      .string()
      .regex(/^[a-z][a-z0-9_]{0,62}$/, 'must be a name of small letters, digits and underscores')
      .default('sluice'),
    'sluice',
    'Catalog of Trino over the bucket, and its name in PostgreSQL (iceberg.jdbc-catalog.catalog-name).',
  ),
  trinoRulesKey: setting(
    'SLUICE_TRINO_RULES_KEY',
    z
      .string()
      .regex(/^[\w-]{16,200}$/, 'must have at least 16 letters, digits, - and _')
      .optional(),
    'none',
    'What Trino names to read who may see what: the `key` of /trino/access-rules.',
  ),
  languageModelUrl: setting(
    'SLUICE_LLM_BASE_URL',
    url(/^https?$/),
    'none',
    'An OpenAI-compatible endpoint that is asked where a question fits two queries or leaves a text open; it never sees rows.',
  ),
  languageModel: setting('SLUICE_LLM_MODEL', text.optional(), 'none', 'The model to name to that endpoint.'),
  languageModelKey: setting('SLUICE_LLM_API_KEY', text.optional(), 'none', 'The key of that endpoint.'),
  plans: setting(
    'SLUICE_PLANS',
    listOr('free=60/20,pro=600/100,scale=6000/500,unlimited').pipe(planTable),
    'free=60/20,pro=600/100,scale=6000/500,unlimited',
    'Comma-separated plans of API keys: name=per_minute/burst or name=per_minute/burst/per_day; a name alone has no limit.',
  ),
  ownerPlans: setting(
    'SLUICE_OWNER_PLANS',
    list,
    'every plan that has a limit',
    'Comma-separated plans that owners may give to API keys, beside the default one; administrators give any.',
  ),
  defaultPlan: setting('SLUICE_DEFAULT_PLAN', text.default('pro'), 'pro', 'Plan of an API key made without one.'),
  traceEndpoint: setting(
    'OTEL_EXPORTER_OTLP_ENDPOINT',
    url(/^https?$/),
    'none',
    'OpenTelemetry collector that traces are sent to (OTLP over HTTP); the other OTEL_* variables mean what its specification says.',
  ),
  smtpUrl: setting(
    'SLUICE_SMTP_URL',
    url(/^smtps?$/),
    'none',
    'Mail server for alerts, as smtp://user:password@host:port; without it there are no alerts by e-mail.',
  ),
  mailFrom: setting(
    'SLUICE_MAIL_FROM',
    text.default('Sluice <sluice@localhost>'),
    'Sluice <sluice@localhost>',
    'Sender of e-mails.',
  ),
  example: setting(
    'SLUICE_EXAMPLE',
    z.enum(['on', 'off']).default('on'),
    'on',
    '`off` leaves out the example project on an empty data folder.',
  ),
  logLevel: setting(
    'SLUICE_LOG_LEVEL',
    z.enum(['debug', 'info', 'warn', 'error', 'silent']).default('info'),
    'info',
    'Least severe log line that is written.',
  ),
} as const satisfies Record<string, Setting<unknown>>
