type Limit = { fallback: number; least: number; most: number; sentence: string }

/** A limit's key ends in its unit (`Ms`, `Bytes`, …); its variable and its name on the wire follow from the key. */
function limit(fallback: number, [least, most]: [number, number], sentence: string): Limit {
  return { fallback, least, most, sentence }
}

/** Every limit that an installation can set: default, allowed range and a sentence. `GET /v1/limits` reports them as configured. */
export const limits = {
  bodyBytes: limit(1_048_576, [1_024, 67_108_864], 'Largest request body.'),
  headerBytes: limit(16_384, [8_192, 131_072], 'Largest request header block.'),
  requestTimeoutMs: limit(30_000, [1_000, 600_000], 'Longest time a caller may take to send a request.'),
  shutdownTimeoutMs: limit(10_000, [100, 120_000], 'Longest time that calls in flight may take to finish on shutdown.'),
  databaseConnections: limit(10, [2, 200], 'Connections to PostgreSQL.'),
  databaseTimeoutMs: limit(10_000, [100, 120_000], 'Longest time a statement or a wait for a connection may take.'),
  executorProcesses: limit(2, [1, 64], 'Processes that run queries.'),
  spareExecutors: limit(
    1,
    [0, 8],
    'Processes, about 70 MB each, that stand ready to take the place of an executor that ended.',
  ),
  executorConcurrency: limit(4, [1, 64], 'Queries that one executor runs at once.'),
  executorMemoryBytes: limit(
    1_073_741_824,
    [134_217_728, 1_099_511_627_776],
    'Memory that the queries of one executor may fill together.',
  ),
  queryQueueLength: limit(256, [1, 100_000], 'Queries that may wait for an executor.'),
  queryTimeoutMs: limit(30_000, [10, 3_600_000], 'Longest time a query may run unless it says otherwise.'),
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
  restAfterSeconds: limit(
    300,
    [0, 86_400],
    'How long nothing is asked until processes that run queries and read questions are ended, all but one that runs queries; the next call starts them again. 0: never.',
  ),
  encoderThreads: limit(2, [1, 16], 'Threads that read questions.'),
  questionIndexBytes: limit(
    536_870_912,
    [1_048_576, 68_719_476_736],
    'Memory for what questions are compared with; projects asked least recently make room.',
  ),
  questionRetentionDays: limit(90, [1, 3_650], 'How long questions are kept unless the project says otherwise.'),
  languageModelTimeoutMs: limit(
    3_000,
    [50, 60_000],
    'Longest wait for the language model before its help is done without.',
  ),
  testTimeoutMs: limit(30_000, [100, 600_000], 'Longest time a test of a connection may take.'),
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
  executeResponseBytes: limit(268_435_456, [1_024, 1_099_511_627_776], 'Largest response that an execute stores.'),
  uploadBytes: limit(1_073_741_824, [1_024, 1_099_511_627_776], 'Largest file that is sent to a datasource.'),
  uploadsAtOnce: limit(
    8,
    [1, 1_000],
    'Files that one process receives at once. One project alone gets most of them, and another always finds room.',
  ),
  childRequestsAtOnce: limit(4, [1, 64], 'Requests at once of a load that asks for each row of another table.'),
  sessionSeconds: limit(1_209_600, [60, 31_536_000], 'How long a sign-in lasts without use.'),
  failedSignInsPerMinute: limit(10, [1, 10_000], 'Failed sign-ins per address and per e-mail in a minute.'),
  failedAuthenticationsPerMinute: limit(20, [1, 100_000], 'Failed credentials per address in a minute.'),
  jobsAtOnce: limit(4, [1, 64], 'Background jobs that run at once in one process.'),
  jobRetentionDays: limit(30, [1, 3_650], 'How long finished jobs are kept.'),
  requestRetentionDays: limit(7, [1, 400], 'How long each single call is kept.'),
  rollupRetentionDays: limit(400, [2, 4_000], 'How long the figures of calls are kept.'),
  canaryIntervalSeconds: limit(10, [1, 3_600], 'How often it is judged how releases that are tried out do.'),
  replayRetentionDays: limit(30, [1, 3_650], 'How long what a replay found is kept.'),
  alertIntervalSeconds: limit(30, [1, 3_600], 'How often alerts are evaluated.'),
  alertRetentionDays: limit(90, [1, 4_000], 'How long the history and the deliveries of alerts are kept.'),
  eventStreams: limit(200, [1, 10_000], 'Live event streams that are open at once in one process.'),
  mcpAnswerRows: limit(200, [1, 100_000], "Rows of a tool's answer; the rest is a resource."),
  oauthRegistrationsPerMinute: limit(10, [1, 10_000], 'Clients that one address may register in a minute.'),
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
  keysPerProject: limit(1_000, [1, 100_000], 'API keys that reach a project, those that are revoked not counted.'),
  alertsPerProject: limit(200, [1, 10_000], 'Alerts of a project.'),
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
} as const satisfies Record<string, Limit>

/** Limits of one mechanism each, the same in every installation. An app of a test is opened with others. */
export const bounds = {
  projectsPerPersonPerHour: {
    value: 20,
    sentence: 'Projects that one person may make in an hour, deleted ones included; administrators make more.',
  },
  keptFileBytes: {
    value: 1_073_741_824,
    sentence: 'Results that a process keeps as files for some minutes, for readers that come for parts of them.',
  },
  mapQueries: { value: 1_000, sentence: 'Queries that the map of a project shows.' },
  clientDocumentBytes: {
    value: 16_384,
    sentence: 'Size of the document in which a client that is named by its address says who it is.',
  },
  clientDocumentTimeoutMs: {
    value: 5_000,
    sentence: 'Longest wait for the document of a client that is named by its address.',
  },
  replayCallsPerSecond: {
    value: 20,
    sentence: 'Recorded calls that one replay runs in a second, each on two versions.',
  },
  replayWaitMs: { value: 10_000, sentence: 'Longest time that the check of a release waits for its replay.' },
  shadowCallsPerSecond: {
    value: 10,
    sentence: 'Calls that a process runs again in a second on the other version of a release that is tried out.',
  },
  shadowQueueLength: {
    value: 100,
    sentence: 'Calls that may wait to be run again; beyond it, and while callers wait, they are dropped and counted.',
  },
  eventStreamsPerPerson: {
    value: 20,
    sentence: 'Live event streams of one person, the tokens that they made included.',
  },
  mcpStreamsPerKey: { value: 20, sentence: 'MCP clients of one API key that wait to hear of releases.' },
  versionParts: {
    value: 16,
    sentence:
      'Files that a table which is loaded bit by bit may consist of before they are put together in the background.',
  },
  apisPerProject: { value: 200, sentence: 'APIs that connections of a project share.' },
  modelRows: { value: 1_000_000_000, sentence: 'Rows of a model.' },
  modelBytes: { value: 17_179_869_184, sentence: 'Size of the rows of a model, packed.' },
  modelTimeoutMs: { value: 1_800_000, sentence: 'Longest time that building a model may take.' },
  executeTryTimeoutMs: { value: 60_000, sentence: 'Longest time one try of an execute may take.' },
  testPreviewBytes: {
    value: 10_485_760,
    sentence: 'Most of a response that a test of a connection reads; it shows 256 kB.',
  },
  keyResyncMs: { value: 5_000, sentence: 'How often API keys are read again in case a notification was lost.' },
  redisTimeoutMs: { value: 250, sentence: 'Longest wait for Redis before a call is counted by this process alone.' },
  questionWaitMs: {
    value: 1_000,
    sentence: 'Longest expected wait of a question until it is read; beyond that it is refused at once with 503.',
  },
  webhookTimeoutMs: { value: 10_000, sentence: 'Longest time the receiver of an alert may take to answer.' },
  outboundTries: { value: 3, sentence: 'Tries of an outbound GET or HEAD.' },
  mcpTools: {
    value: 100,
    sentence: 'Queries that an MCP client is shown as tools; where there are more, it finds them with list_queries.',
  },
}

export type Bounds = Record<keyof typeof bounds, number>
export type Limits = Record<keyof typeof limits, number> & Bounds

/** Limits that could be set once and are constants now. A start names those that are still set, and goes on. */
export const retiredLimits = `
  definitionBytes bodyDepth sqlNodes sqlLevels jsonDepth mcpAnswerBytes oauthAccessSeconds authorizationSeconds
  browserTokenSeconds quarantineSeconds auditExportRows mapCallers channelsPerProject viewsPerProject linkSeconds
  invitationSeconds uploadTimeoutMs readerBytesPerSecond sqlChars definitionWaitMs definitionQueueLength
  flushTimeoutMs inspectionTimeoutMs projectIdleSeconds questionQueueLength questionIndexWaitMs releaseWaitMs
  releaseQueueLength outboundRedirects outboundConnectTimeoutMs outboundConnectionsPerOrigin jobTimeoutMs
  usageQueueLength recordedCallsPerSecond replayResultBytes engineMoveCalls engineMoveTimeoutMs
  engineMoveQueueLength mcpRequestsPerProject mcpWaitMs mcpQueueLength mcpStreams oauthRefreshSeconds oauthClients
  trinoTimeoutMs trinoTableTimeoutMs mapQueries clientDocumentBytes clientDocumentTimeoutMs replayCallsPerSecond
  replayWaitMs shadowCallsPerSecond shadowQueueLength eventStreamsPerPerson mcpStreamsPerKey versionParts
  executeTryTimeoutMs testPreviewBytes keyResyncMs redisTimeoutMs questionWaitMs webhookTimeoutMs mcpTools
  outboundTries`
  .trim()
  .split(/\s+/)
  .map(limitVariable)

/** `bodyBytes` on the wire: `body_bytes`. */
export function wireName(name: string): string {
  return name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
}

/** `bodyBytes` in the environment: `SLUICE_BODY_BYTES`. */
export function limitVariable(name: string): string {
  return `SLUICE_${wireName(name).toUpperCase()}`
}
