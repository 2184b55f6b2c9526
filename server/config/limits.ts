type Limit = { fallback: number; least: number; most: number; sentence: string }

/** A limit's key ends in its unit (`Ms`, `Bytes`, …); its variable and its name on the wire follow from the key. */
function limit(fallback: number, [least, most]: [number, number], sentence: string): Limit {
  return { fallback, least, most, sentence }
}

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

type LimitName = keyof typeof limits
export type Limits = Record<LimitName, number>

/** `bodyBytes` on the wire: `body_bytes`. */
export function wireName(name: string): string {
  return name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
}

/** `bodyBytes` in the environment: `SLUICE_BODY_BYTES`. */
export function limitVariable(name: string): string {
  return `SLUICE_${wireName(name).toUpperCase()}`
}
