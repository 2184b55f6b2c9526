/** Which rooms a room may import, by their doors. A room that is not named here is a violation in itself. */
export const mayImport: Record<string, string[]> = {
  api: [],
  // What is drawn of a result is chosen in one place for the app and for the element that pages embed.
  web: ['api', 'clients/chart'],
  // It talks to the service like anyone else; what it starts of it, it starts as a program.
  cli: ['api', 'cli/project', 'clients/typescript'],
  // Pure: texts of files come in and a definition goes out, and the other way round.
  'cli/project': ['api'],
  // What users install imports nothing of ours.
  'clients/typescript': [],
  'clients/ask-element': ['clients/chart'],
  'clients/chart': [],
  server: [
    'api',
    'server/http',
    'server/mcp',
    'server/access',
    'server/projects',
    'server/connections',
    'server/queries',
    'server/questions',
    'server/definition',
    'server/engine-move',
    'server/lineage',
    'server/models',
    'server/row-tests',
    'server/rollout',
    'server/usage',
    'server/data',
    'server/lookups',
    'server/files',
    'server/engine',
    'server/trino',
    'server/jobs',
    'server/store',
    'server/example',
    'server/backup',
  ],
  // The whole installation, table by table and file by file.
  'server/backup': ['server/jobs', 'server/store', 'server/files', 'server/data'],
  'server/http': [
    'api',
    'server/mcp',
    'server/access',
    'server/projects',
    'server/connections',
    'server/queries',
    'server/questions',
    'server/definition',
    'server/engine-move',
    'server/lineage',
    'server/models',
    'server/row-tests',
    'server/rollout',
    'server/usage',
    'server/data',
    'server/files',
    'server/engine',
    'server/jobs',
    'server/store',
    'server/example',
  ],
  // A project as one document: reads and writes by the verbs of the rooms that own its parts.
  'server/definition': [
    'api',
    'server/access',
    'server/projects',
    'server/connections',
    'server/queries',
    'server/questions',
    'server/models',
    'server/row-tests',
    'server/rollout',
    'server/usage',
    'server/data',
    'server/files',
    'server/engine',
    'server/jobs',
    'server/store',
  ],
  // A project on another engine: compares what the rooms below run, and has them switch it.
  'server/engine-move': [
    'api',
    'server/access',
    'server/projects',
    'server/queries',
    'server/rollout',
    'server/data',
    'server/engine',
    'server/store',
  ],
  // The whole project in one picture: reads what the rooms that own its parts tell.
  'server/lineage': [
    'api',
    'server/access',
    'server/projects',
    'server/connections',
    'server/queries',
    'server/models',
    'server/usage',
    'server/jobs',
    'server/store',
  ],
  // A second transport over the verbs of calls and questions; it knows web requests and answers, and no server.
  'server/mcp': ['api', 'server/access', 'server/queries', 'server/questions', 'server/data', 'server/store'],
  'server/example': [
    'api',
    'server/access',
    'server/projects',
    'server/connections',
    'server/queries',
    'server/models',
    'server/row-tests',
    'server/jobs',
    'server/store',
  ],
  'server/questions': [
    'api',
    'server/router',
    'server/language',
    'server/queries',
    'server/connections',
    'server/access',
    'server/projects',
    'server/usage',
    'server/data',
    'server/lookups',
    'server/engine',
    'server/store',
  ],
  // Pure: what a project is and what was said come in as values, a decision goes out.
  'server/router': ['api', 'server/language'],
  'server/language': [],
  'server/queries': [
    'api',
    'server/access',
    'server/projects',
    'server/data',
    'server/lookups',
    'server/engine',
    'server/store',
  ],
  // Stands on the path of no call: it hears of those that were answered.
  'server/rollout': [
    'api',
    'server/queries',
    'server/access',
    'server/projects',
    'server/usage',
    'server/data',
    'server/engine',
    'server/jobs',
    'server/store',
  ],
  'server/connections': [
    'api',
    'server/access',
    'server/projects',
    'server/data',
    'server/files',
    'server/engine',
    'server/rows',
    'server/jobs',
    'server/store',
  ],
  // Tables made of tables: what is built from what, and when; the building is a load like any other.
  'server/models': [
    'api',
    'server/access',
    'server/connections',
    'server/data',
    'server/files',
    'server/engine',
    'server/jobs',
    'server/store',
  ],
  // Queries and models on rows of their authors.
  'server/row-tests': [
    'api',
    'server/rows',
    'server/access',
    'server/queries',
    'server/models',
    'server/data',
    'server/files',
    'server/engine',
    'server/store',
  ],
  'server/usage': ['api', 'server/access', 'server/projects', 'server/jobs', 'server/store'],
  'server/projects': ['api', 'server/access', 'server/store'],
  'server/access': ['api', 'server/store'],
  'server/data': ['api', 'server/access', 'server/engine', 'server/files', 'server/store'],
  'server/lookups': ['server/engine', 'server/engine/executor', 'server/files'],
  'server/engine': ['api', 'server/engine/executor', 'server/files', 'server/store'],
  // Content-addressed files: a folder, a bucket, a cache, leases.
  'server/files': ['server/store'],
  // Another engine behind the same door; what it reads is made known to it from here.
  'server/trino': ['api', 'server/store', 'server/engine', 'server/files'],
  'server/engine/executor': ['api', 'server/rows'],
  'server/rows': [],
  'server/jobs': ['api', 'server/access', 'server/store'],
  'server/store': ['api'],
  // This process: signals, output, compiled modules, collecting.
  'server/process': [],
  'server/flow': [],
}

/** Rooms that know nothing of the others, so that every room of the server may use them. */
export const sharedRooms = new Set(['server/flow', 'server/process'])

/** Files that stand in no room and that every room of the server may import. */
export const leaves = new Set([
  'server/failure.ts',
  'server/observe.ts',
  'server/ids.ts',
  'server/json-depth.ts',
  'server/clock.ts',
  'server/status-words.ts',
])

/** A file that every room of the server may import as types. */
export const typeLeaves = new Set(['server/config.ts'])

/** Files of `api/` of which the web app may take more than types. */
export const valuesForWeb = new Set([
  'api/secret-names.ts',
  'api/csv.ts',
  'api/catalog-definition.ts',
  'api/column-names.ts',
  'api/new-rows.ts',
])

/** Rooms that stand above `server/app.ts` and may take the whole app. What is below names the parts that it uses. */
export const aboveApp = new Set(['server', 'server/http', 'server/example'])

/** A heavy library lives in one room. Where `types` is set, its types may travel. */
export const homes: Array<{ library: RegExp; room: string; types?: true; also?: string[] }> = [
  { library: /^(fastify|@fastify\/|fastify-)/, room: 'server/http' },
  { library: /^@modelcontextprotocol\/(client|server\/stdio)$/, room: 'cli' },
  { library: /^@modelcontextprotocol\//, room: 'server/mcp' },
  { library: /^pg$/, room: 'server/store' },
  { library: /^kysely$/, room: 'server/store', types: true },
  { library: /^pg-boss$/, room: 'server/jobs' },
  { library: /^undici$/, room: 'server/connections', also: ['server/trino'] },
  { library: /^@duckdb\//, room: 'server/engine/executor', also: ['cli'] },
  { library: /^@aws-sdk\//, room: 'server/files' },
  { library: /^(sax|yauzl)$/, room: 'server/rows' },
  { library: /^yaml$/, room: 'server/connections', also: ['cli', 'cli/project', 'web'] },
  { library: /^commander$/, room: 'cli' },
  { library: /^onnxruntime-node$/, room: 'server/router' },
  { library: /^chrono-node$/, room: 'server/language' },
  { library: /^@node-rs\/argon2$/, room: 'server/access' },
  { library: /^@redis\//, room: 'server/access' },
  { library: /^prom-client$/, room: 'server/usage' },
  { library: /^nodemailer$/, room: 'server/usage' },
  { library: /^@opentelemetry\//, room: 'server/usage' },
  { library: /^pino$/, room: 'server' },
  { library: /^(react|react-dom|@mantine\/|@tanstack\/)/, room: 'web' },
]

/**
 * The way of a call from its route to its rows, by the rooms whose code each file on it may use: two hops for a direct
 * call, three for a question. A route that reached further would put the call together itself.
 */
export const callPath: Record<string, string[]> = {
  'server/http/routes/queries/query-calls.ts': ['server/queries'],
  'server/http/routes/questions/questions.ts': ['server/questions'],
  'server/http/routes/service/mcp.ts': ['server/mcp'],
  'server/mcp/calls.ts': ['server/queries', 'server/questions'],
  // The router and the reader of texts are pure: no call goes on from there.
  'server/questions/verbs/ask.ts': ['server/access', 'server/queries', 'server/router', 'server/language'],
  'server/queries/calls/call.ts': ['server/access'],
  'server/queries/calls/run.ts': [],
}

/** What is started: the only files that may see the process they are in. */
export const entries = new Set(['server/main.ts', 'server/rotate-secret-key.ts', 'server/backup-program.ts'])

export const grabBags = /(^|\/)(utils?|helpers?|common|misc|manager|base|impl)(\/|\.tsx?$|-)/
