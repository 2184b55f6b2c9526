import { resolve } from 'node:path'
import { z } from 'zod'
import { closest } from './failure.ts'

type Setting<Value> = {
  variable: string
  schema: z.ZodType<Value>
  /** How the default reads in `docs/configuration.md`. */
  fallback: string
  sentence: string
}

type Limit = { fallback: number; least: number; most: number; sentence: string }

function setting<Value>(
  variable: string,
  schema: z.ZodType<Value>,
  fallback: string,
  sentence: string,
): Setting<Value> {
  return { variable, schema, fallback, sentence }
}

/** A limit's key ends in its unit (`Ms`, `Bytes`, …); its variable and its name on the wire follow from the key. */
function limit(fallback: number, [least, most]: [number, number], sentence: string): Limit {
  return { fallback, least, most, sentence }
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

/** How much a key may do. Without `rate` as fast as it likes, without `perDay` as often. */
export type Plan = { name: string; rate: { perMinute: number; burst: number } | null; perDay: number | null }

const planShape = /^([a-z][a-z0-9_]{0,62})(?:=([1-9]\d{0,5})\/([1-9]\d{0,5})(?:\/([1-9]\d{0,8}))?)?$/
const planTable = z
  .array(
    z
      .string()
      .regex(planShape, 'must hold plans that read name=per_minute/burst, with /per_day after it, or name alone'),
  )
  .min(1)
  .transform((entries) => entries.map(planOf))
  .refine((plans) => new Set(plans.map(({ name }) => name)).size === plans.length, 'names a plan twice')

function planOf(entry: string): Plan {
  const [, name = '', perMinute, burst, perDay] = planShape.exec(entry) ?? []
  const rate = perMinute === undefined ? null : { perMinute: Number(perMinute), burst: Number(burst) }
  return { name, rate, perDay: perDay === undefined ? null : Number(perDay) }
}

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

/** Limits of the wire contract, which no installation changes. `GET /v1/limits` reports them too. */
export { fixedLimits } from '../api/limits.ts'

/** Every limit that an installation can set: default, allowed range and a sentence. `GET /v1/limits` reports them as configured. */
export const limits = {
  bodyBytes: limit(1_048_576, [1_024, 67_108_864], 'Largest request body.'),
  bodyDepth: limit(64, [8, 256], 'Deepest nesting of a JSON request body.'),
  definitionBytes: limit(33_554_432, [1_048_576, 536_870_912], 'Largest definition of a project.'),
  definitionWaitMs: limit(30_000, [100, 600_000], 'Longest wait of a definition for those that came before it.'),
  definitionQueueLength: limit(8, [1, 1_000], 'Definitions of one project that may wait in one process.'),
  headerBytes: limit(16_384, [8_192, 131_072], 'Largest request header block.'),
  requestTimeoutMs: limit(30_000, [1_000, 600_000], 'Longest time a caller may take to send a request.'),
  shutdownTimeoutMs: limit(10_000, [100, 120_000], 'Longest time that calls in flight may take to finish on shutdown.'),
  flushTimeoutMs: limit(
    5_000,
    [100, 120_000],
    'Longest time that records of calls, questions and uses of keys may take to be written on shutdown.',
  ),
  databaseConnections: limit(10, [2, 200], 'Connections to PostgreSQL.'),
  databaseTimeoutMs: limit(10_000, [100, 120_000], 'Longest time a statement or a wait for a connection may take.'),
  executorProcesses: limit(2, [1, 64], 'Processes that run queries.'),
  spareExecutors: limit(
    1,
    [0, 8],
    'Processes, about 70 MB each, that stand ready to take the place of an executor that ended.',
  ),
  quarantineSeconds: limit(300, [1, 86_400], 'How long SQL that ended the process that ran it is refused.'),
  executorConcurrency: limit(4, [1, 64], 'Queries that one executor runs at once.'),
  executorMemoryBytes: limit(
    1_073_741_824,
    [134_217_728, 1_099_511_627_776],
    'Memory that the queries of one executor may fill together.',
  ),
  queryQueueLength: limit(256, [1, 100_000], 'Queries that may wait for an executor.'),
  queryTimeoutMs: limit(30_000, [10, 3_600_000], 'Longest time a query may run unless it says otherwise.'),
  sqlChars: limit(100_000, [1_000, 10_000_000], 'Longest SQL of a query, in characters.'),
  sqlNodes: limit(
    30_000,
    [100, 1_000_000],
    'Names, values, calls and tables that the SQL of a query may have together.',
  ),
  sqlLevels: limit(200, [10, 900], 'Deepest nesting of the SQL of a query.'),
  inspectionTimeoutMs: limit(
    5_000,
    [100, 600_000],
    'Longest time that finding out what the SQL of a query reads may take.',
  ),
  queryRows: limit(100_000, [1, 10_000_000], 'Rows of an answer in one piece unless the query says otherwise.'),
  queryBytes: limit(
    67_108_864,
    [1_024, 1_073_741_824],
    'Size of an answer in one piece unless the query says otherwise.',
  ),
  queryStreamRows: limit(10_000_000, [1, 1_000_000_000], 'Rows of a streamed answer unless the query says otherwise.'),
  queryStreamBytes: limit(
    4_294_967_296,
    [1_024, 1_099_511_627_776],
    'Size of a streamed answer unless the query says otherwise.',
  ),
  previewRows: limit(1_000, [1, 100_000], 'Rows of a preview.'),
  answerCacheBytes: limit(134_217_728, [0, 68_719_476_736], 'Memory for answers that may be given again.'),
  lookupBytes: limit(
    2_147_483_648,
    [0, 1_099_511_627_776],
    'Disk for answers that are written in advance, of queries that find rows by a key; half of it for one query. 0: none are.',
  ),
  answersInFlightBytes: limit(
    268_435_456,
    [1_048_576, 68_719_476_736],
    'Memory for answers that are being read by their callers; beyond a fair share, a project and a key wait.',
  ),
  readerBytesPerSecond: limit(
    16_384,
    [1, 1_073_741_824],
    'Slowest pace at which a large or streamed answer may be read; slower connections are ended.',
  ),
  projectIdleSeconds: limit(300, [1, 86_400], "How long a project's tables stay open in an executor without use."),
  restAfterSeconds: limit(
    300,
    [0, 86_400],
    'How long nothing is asked until processes that run queries and read questions are ended, all but one that runs queries; the next call starts them again. 0: never.',
  ),
  encoderThreads: limit(2, [1, 16], 'Threads that read questions.'),
  questionQueueLength: limit(1_000, [1, 10_000], 'Texts that may wait for a thread that reads questions.'),
  questionWaitMs: limit(
    1_000,
    [10, 60_000],
    'Longest expected wait of a question until it is read; beyond that it is refused at once with 503.',
  ),
  questionIndexWaitMs: limit(10_000, [10, 120_000], 'Longest wait of a question while its project is read first.'),
  questionIndexBytes: limit(
    536_870_912,
    [1_048_576, 68_719_476_736],
    'Memory for what questions are compared with; projects asked least recently make room.',
  ),
  releaseWaitMs: limit(
    120_000,
    [100, 600_000],
    'Longest wait of a release for those to the same environment that came before it.',
  ),
  releaseQueueLength: limit(100, [1, 10_000], 'Releases to one environment that may wait in one process.'),
  questionRetentionDays: limit(90, [1, 3_650], 'How long questions are kept unless the project says otherwise.'),
  languageModelTimeoutMs: limit(
    3_000,
    [50, 60_000],
    'Longest wait for the language model before its help is done without.',
  ),
  testTimeoutMs: limit(30_000, [100, 600_000], 'Longest time a test of a connection may take.'),
  testPreviewBytes: limit(10_485_760, [1_024, 104_857_600], 'Most of a response that a test of a connection shows.'),
  executeTryTimeoutMs: limit(60_000, [100, 3_600_000], 'Longest time one try of an execute may take.'),
  executeTimeoutMs: limit(180_000, [100, 3_600_000], 'Longest time an execute may take with all its tries and pages.'),
  loadTimeoutMs: limit(
    21_600_000,
    [1_000, 86_400_000],
    'Longest time a refresh may take with all its tries, waits and pages.',
  ),
  loadResponseBytes: limit(
    8_589_934_592,
    [1_024, 1_099_511_627_776],
    'Largest response that a refresh stores, all pages together.',
  ),
  versionParts: limit(
    16,
    [2, 200],
    'Files that a table which is loaded bit by bit may consist of before they are put together in the background.',
  ),
  executeResponseBytes: limit(268_435_456, [1_024, 1_099_511_627_776], 'Largest response that an execute stores.'),
  uploadBytes: limit(1_073_741_824, [1_024, 1_099_511_627_776], 'Largest file that is sent to a datasource.'),
  uploadTimeoutMs: limit(3_600_000, [1_000, 86_400_000], 'Longest time a caller may take to send a file.'),
  uploadsAtOnce: limit(
    8,
    [1, 1_000],
    'Files that one process receives at once. One project alone gets most of them, and another always finds room.',
  ),
  childRequestsAtOnce: limit(4, [1, 64], 'Requests at once of a load that asks for each row of another table.'),
  outboundRedirects: limit(5, [0, 20], 'Redirects that an outbound call follows.'),
  outboundTries: limit(3, [1, 10], 'Tries of an outbound GET or HEAD.'),
  outboundConnectTimeoutMs: limit(10_000, [100, 120_000], 'Longest time a connection to an external API may take.'),
  outboundConnectionsPerOrigin: limit(16, [1, 1_000], 'Connections to one external API at once.'),
  jsonDepth: limit(64, [1, 64], 'Deepest nesting of a JSON response.'),
  sessionSeconds: limit(1_209_600, [60, 31_536_000], 'How long a sign-in lasts without use.'),
  authorizationSeconds: limit(
    600,
    [30, 86_400],
    'How long connecting to an external API in a browser may take, from leaving the app to coming back.',
  ),
  linkSeconds: limit(3_600, [60, 604_800], 'How long a one-time sign-in link is good.'),
  invitationSeconds: limit(604_800, [60, 2_592_000], 'How long an invitation is good.'),
  failedSignInsPerMinute: limit(10, [1, 10_000], 'Failed sign-ins per address and per e-mail in a minute.'),
  failedAuthenticationsPerMinute: limit(20, [1, 100_000], 'Failed credentials per address in a minute.'),
  jobsAtOnce: limit(4, [1, 64], 'Background jobs that run at once in one process.'),
  jobTimeoutMs: limit(1_800_000, [1_000, 43_200_000], 'Longest time one attempt of a job may take.'),
  jobRetentionDays: limit(30, [1, 3_650], 'How long finished jobs are kept.'),
  usageQueueLength: limit(
    50_000,
    [100, 10_000_000],
    'Calls that may wait to be recorded; beyond it calls are answered and not recorded.',
  ),
  requestRetentionDays: limit(7, [1, 400], 'How long each single call is kept.'),
  rollupRetentionDays: limit(400, [2, 4_000], 'How long the figures of calls are kept.'),
  recordedCallsPerSecond: limit(
    10,
    [1, 1_000],
    'Calls of one query that a process records in a second for replay; those beyond it are not recorded.',
  ),
  replayCallsPerSecond: limit(20, [1, 1_000], 'Recorded calls that one replay runs in a second, each on two versions.'),
  replayWaitMs: limit(10_000, [0, 300_000], 'Longest time that the check of a release waits for its replay.'),
  replayResultBytes: limit(
    8_388_608,
    [1_024, 268_435_456],
    'Largest result that a replay compares row by row; larger ones are compared by digests.',
  ),
  shadowCallsPerSecond: limit(
    10,
    [1, 1_000],
    'Calls that a process runs again in a second on the other version of a release that is tried out.',
  ),
  shadowQueueLength: limit(
    100,
    [1, 10_000],
    'Calls that may wait to be run again; beyond it, and while callers wait, they are dropped and counted.',
  ),
  canaryIntervalSeconds: limit(10, [1, 3_600], 'How often it is judged how releases that are tried out do.'),
  replayRetentionDays: limit(30, [1, 3_650], 'How long what a replay found is kept.'),
  engineMoveCalls: limit(
    20,
    [1, 1_000],
    'Sets of values on which each query is run on both engines before a project moves to another.',
  ),
  engineMoveTimeoutMs: limit(
    240_000,
    [1_000, 3_600_000],
    'Longest time that comparing the queries of a project on two engines takes; those that are left then are unchecked.',
  ),
  engineMoveQueueLength: limit(4, [1, 100], 'Moves of one project to another engine that may wait for their turn.'),
  alertIntervalSeconds: limit(30, [1, 3_600], 'How often alerts are evaluated.'),
  alertRetentionDays: limit(90, [1, 4_000], 'How long the history and the deliveries of alerts are kept.'),
  webhookTimeoutMs: limit(10_000, [100, 120_000], 'Longest time the receiver of an alert may take to answer.'),
  eventStreams: limit(200, [1, 10_000], 'Live event streams that are open at once in one process.'),
  eventStreamsPerPerson: limit(
    20,
    [1, 10_000],
    'Of these, the streams of one person, the tokens that they made included.',
  ),
  mcpTools: limit(
    100,
    [1, 10_000],
    'Queries that an MCP client is shown as tools; where there are more, it finds them with list_queries.',
  ),
  mcpAnswerRows: limit(200, [1, 100_000], "Rows of a tool's answer; the rest is a resource."),
  mcpAnswerBytes: limit(65_536, [1_024, 16_777_216], "Size of the rows of a tool's answer."),
  mcpRequestsPerProject: limit(
    8,
    [1, 10_000],
    'MCP requests of one project that a process works on at once; the others wait for their turn.',
  ),
  mcpWaitMs: limit(10_000, [100, 600_000], 'Longest wait of an MCP request for its turn.'),
  mcpQueueLength: limit(256, [1, 100_000], 'MCP requests of one project that may wait in one process.'),
  mcpStreams: limit(200, [1, 10_000], 'MCP clients that wait to hear of releases at once in one process.'),
  mcpStreamsPerKey: limit(20, [1, 10_000], 'Of these, the clients of one API key.'),
  oauthAccessSeconds: limit(3_600, [60, 86_400], 'How long the access of a client that a person let in is good.'),
  oauthRefreshSeconds: limit(2_592_000, [600, 31_536_000], 'How long such a client may ask for access again.'),
  oauthClients: limit(10_000, [1, 1_000_000], 'Clients that may be registered to be let in by people.'),
  clientDocumentBytes: limit(
    16_384,
    [1_024, 1_048_576],
    'Size of the document in which a client that is named by its address says who it is.',
  ),
  clientDocumentTimeoutMs: limit(5_000, [100, 60_000], 'Longest wait for that document.'),
  oauthRegistrationsPerMinute: limit(10, [1, 10_000], 'Clients that one address may register in a minute.'),
  browserTokenSeconds: limit(3_600, [60, 86_400], 'Longest life of a browser token.'),
  projects: limit(10_000, [1, 1_000_000], 'Projects of the installation.'),
  projectsPerPerson: limit(
    100,
    [1, 1_000_000],
    'Projects that one person may own by making them; administrators make more.',
  ),
  environmentsPerProject: limit(20, [3, 100], 'Environments of a project.'),
  membersPerProject: limit(1_000, [1, 100_000], 'Members of a project, open invitations included.'),
  datasourcesPerProject: limit(500, [1, 100_000], 'Datasources of a project.'),
  variablesPerProject: limit(500, [1, 100_000], 'Variables and secrets of a project.'),
  queriesPerProject: limit(2_000, [1, 100_000], 'Queries of a project.'),
  mapQueries: limit(1_000, [1, 10_000], 'Queries that the map of a project shows.'),
  mapCallers: limit(200, [1, 10_000], 'Callers that the map of a project shows.'),
  keysPerProject: limit(1_000, [1, 100_000], 'API keys that reach a project, those that are revoked not counted.'),
  alertsPerProject: limit(200, [1, 10_000], 'Alerts of a project.'),
  channelsPerProject: limit(100, [1, 10_000], 'Channels that a project has for all its alerts.'),
  viewsPerProject: limit(100, [1, 10_000], 'Saved views of a project, and of each person in it.'),
  auditExportRows: limit(100_000, [100, 10_000_000], 'Entries of the audit log in one exported file.'),
  tokensPerPerson: limit(100, [1, 10_000], 'Management tokens of one person that are good.'),
  storedBytesPerProject: limit(
    107_374_182_400,
    [1_048_576, 1_125_899_906_842_624],
    'Data that a project keeps, in all its versions; looked at when new data is fetched.',
  ),
  storedBytes: limit(1_099_511_627_776, [1_048_576, 1_125_899_906_842_624], 'Data that all projects keep together.'),
  objectCacheBytes: limit(
    21_474_836_480,
    [16_777_216, 1_125_899_906_842_624],
    'Data that one process keeps in its data folder of what is in the bucket; what was used longest ago goes first.',
  ),
  objectTimeoutMs: limit(10_000, [100, 600_000], 'Longest wait for the bucket to answer, or to send more.'),
  trinoQueries: limit(
    32,
    [1, 10_000],
    'Statements that one process has with Trino at once; the others wait for their turn.',
  ),
  trinoTimeoutMs: limit(10_000, [100, 600_000], 'Longest wait for Trino to answer an HTTP request.'),
  trinoQueryMemoryBytes: limit(
    2_147_483_648,
    [16_777_216, 1_125_899_906_842_624],
    'Memory that one query may fill on the whole Trino cluster.',
  ),
  trinoScanBytes: limit(
    1_099_511_627_776,
    [1_048_576, 1_125_899_906_842_624],
    'Data that one query on Trino may read from the bucket.',
  ),
  trinoTableTimeoutMs: limit(60_000, [1_000, 3_600_000], 'Longest time that making a table known to Trino may take.'),
  keyResyncMs: limit(5_000, [100, 600_000], 'How often API keys are read again in case a notification was lost.'),
  redisTimeoutMs: limit(250, [1, 10_000], 'Longest wait for Redis before a call is counted by this process alone.'),
} as const satisfies Record<string, Limit>

export type LimitName = keyof typeof limits
export type Limits = Record<LimitName, number>
export type Config = { [Name in keyof typeof settings]: z.output<(typeof settings)[Name]['schema']> } & {
  limits: Limits
}

/** `bodyBytes` on the wire: `body_bytes`. */
export function wireName(name: string): string {
  return name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
}

/** `bodyBytes` in the environment: `SLUICE_BODY_BYTES`. */
export function limitVariable(name: string): string {
  return `SLUICE_${wireName(name).toUpperCase()}`
}

/**
 * Reads the whole configuration or says in one line per mistake which variable is wrong. Unknown `SLUICE_*` names are
 * mistakes too: a misspelled limit that silently keeps its default is found in production.
 */
export function readConfig(environment: Record<string, string | undefined>): Config | { mistakes: string[] } {
  const mistakes: string[] = []
  const values: Record<string, unknown> = {}
  const known = new Set<string>()
  const read = (variable: string, schema: z.ZodType): unknown => {
    known.add(variable)
    const given = environment[variable]
    const parsed = schema.safeParse(given === '' ? undefined : given)
    if (parsed.success) return parsed.data
    mistakes.push(`${variable} ${parsed.error.issues.map((issue) => lowerFirst(issue.message)).join('; ')}`)
    return undefined
  }
  for (const [name, { variable, schema }] of Object.entries(settings)) values[name] = read(variable, schema)
  const limitValues = Object.entries(limits).map(([name, { fallback, least, most }]) => {
    const schema = z.coerce.number().int().min(least).max(most).default(fallback)
    return [name, read(limitVariable(name), schema)] as const
  })
  for (const variable of Object.keys(environment)) {
    if (!variable.startsWith('SLUICE_') || known.has(variable)) continue
    const near = closest(variable, known)
    mistakes.push(`${variable} is not a setting${near === undefined ? '' : `; perhaps you meant ${near}`}`)
  }
  if (mistakes.length > 0) return { mistakes }
  const config = { ...values, limits: Object.fromEntries(limitValues) } as Config
  const planNames = config.plans.map(({ name }) => name)
  if (!planNames.includes(config.defaultPlan)) {
    return { mistakes: [`SLUICE_DEFAULT_PLAN must be one of ${planNames.join(', ')}`] }
  }
  if (config.trinoUrl !== undefined && !(config.databaseUrl && config.objectsUrl && config.trinoRulesKey)) {
    return {
      mistakes: ['SLUICE_TRINO_URL needs SLUICE_DATABASE_URL, SLUICE_OBJECTS_URL and SLUICE_TRINO_RULES_KEY beside it'],
    }
  }
  if (config.ownerPlans.some((name) => !planNames.includes(name))) {
    return { mistakes: [`SLUICE_OWNER_PLANS must name plans: ${planNames.join(', ')}`] }
  }
  return config
}

function lowerFirst(sentence: string): string {
  return sentence.charAt(0).toLowerCase() + sentence.slice(1)
}
