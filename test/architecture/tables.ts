/** The one room that reads and writes each table. Others ask it: by its door, or by a port that `server/app.ts` fills. */
const owners: Record<string, string> = {
  // Who may do what, and the proof of it.
  users: 'server/access',
  sessions: 'server/access',
  members: 'server/access',
  links: 'server/access',
  shared_references: 'server/access',
  management_tokens: 'server/access',
  audit_log: 'server/access',
  api_keys: 'server/access',
  api_key_permissions: 'server/access',
  api_key_uses: 'server/access',
  api_key_addresses: 'server/access',
  oauth_clients: 'server/access',
  oauth_grants: 'server/access',
  program_sign_ins: 'server/access',
  vault_check: 'server/access',
  // Its row says that there is a first user; what the example made is noted beside it.
  installation: 'server/access',
  // What processes take turns for.
  leases: 'server/store',
  data_folder: 'server/store',
  replicas: 'server/store',
  projects: 'server/projects',
  environments: 'server/projects',
  // What a table is fetched from, with its sealed credentials and its schedule.
  datasources: 'server/connections',
  load_checkpoints: 'server/connections',
  idempotent_calls: 'server/connections',
  variables: 'server/connections',
  apis: 'server/connections',
  api_calls: 'server/connections',
  // What a model is built by; where its data goes is its datasource.
  models: 'server/models',
  row_tests: 'server/row-tests',
  // What authorization servers gave, and browsers that are on their way there.
  upstream_grants: 'server/connections',
  upstream_attempts: 'server/connections',
  // What was fetched.
  data_objects: 'server/data',
  data_parts: 'server/data',
  stored_files: 'server/files',
  version_parts: 'server/data',
  lineage: 'server/data',
  column_values: 'server/data',
  jobs: 'server/jobs',
  queries: 'server/queries',
  query_versions: 'server/queries',
  query_callers: 'server/queries',
  deployments: 'server/queries',
  deployment_acts: 'server/queries',
  releases: 'server/queries',
  trials: 'server/queries',
  trial_versions: 'server/queries',
  replay_settings: 'server/rollout',
  recorded_calls: 'server/rollout',
  replays: 'server/rollout',
  replay_calls: 'server/rollout',
  questions: 'server/questions',
  question_settings: 'server/questions',
  question_vectors: 'server/questions',
  evaluation_cases: 'server/questions',
  evaluation_runs: 'server/questions',
  counter_examples: 'server/questions',
  requests: 'server/usage',
  request_batches: 'server/usage',
  usage_rollups: 'server/usage',
  usage_questions: 'server/usage',
  usage_progress: 'server/usage',
  alerts: 'server/usage',
  alert_channels: 'server/usage',
  alert_events: 'server/usage',
  alert_deliveries: 'server/usage',
  alert_rounds: 'server/usage',
  notification_channels: 'server/usage',
  saved_views: 'server/usage',
}

/** Files that name a table of another room, each with its reason. */
const exceptions: Record<string, { table: string; reason: string }> = {
  'server/store/quota.ts': {
    table: 'projects',
    reason: 'The lock under which every room counts what a project has, also rooms below the one that owns projects.',
  },
  'server/access/people/roles.ts': {
    table: 'projects',
    reason: 'The first question of every verb: is there such a project, and what is the caller in it? One statement.',
  },
}

const kyselyCall =
  /\b(selectFrom|insertInto|updateTable|deleteFrom|mergeInto|using|(?:inner|left|right|full|cross)Join(?:Lateral)?)\(\s*/g

/** Tables that are named outside the room that owns them, and tables that nobody owns. */
export function foreignTables(sources: Map<string, string>, roomOf: (path: string) => string | undefined): string[] {
  const code = [...sources].filter(([path]) => path.startsWith('server/') && path.endsWith('.ts'))
  return [
    ...ownerless(sources),
    ...code.flatMap(([path, text]) => {
      const { bare, literals } = lex(text)
      const named = [...bare.matchAll(kyselyCall)].map((call) => ({
        verb: call[1] ?? '',
        names: argumentNames(bare.slice(call.index + call[0].length)),
      }))
      const hidden = named.filter(({ verb, names }) => names === null && !/join|using/i.test(verb))
      const tables = new Set([...named.flatMap(({ names }) => names ?? []), ...literals.flatMap(tablesOfSql)])
      const foreign = [...tables].filter((table) => ownerOf(table) !== undefined && ownerOf(table) !== roomOf(path))
      const allowed = exceptions[path]?.table
      return [
        ...hidden.map(({ verb }) => `${path}: ${verb} of a table that is not named there`),
        ...foreign
          .filter((table) => table !== allowed)
          .map((table) => `${path}: the table ${table} belongs to ${ownerOf(table)}`),
        ...(allowed === undefined || foreign.includes(allowed) ? [] : [`${path}: needs no exception for ${allowed}`]),
      ]
    }),
  ]
}

function ownerOf(table: string): string | undefined {
  return Object.hasOwn(owners, table) ? owners[table] : undefined
}

/** The tables and views that the migrations leave, compared with the owners. */
function ownerless(sources: Map<string, string>): string[] {
  const migrations = [...sources].filter(([path]) => path.endsWith('.sql')).toSorted(([a], [b]) => (a < b ? -1 : 1))
  const there = new Set<string>()
  for (const [, text] of migrations) {
    const acts = text.matchAll(/^\s*(create|drop) (?:table|view) (?:if (?:not )?exists )?(\w+)\b(?!\.)/gim)
    for (const [, act, table = ''] of acts) {
      if (act?.toLowerCase() === 'create') there.add(table)
      else there.delete(table)
    }
  }
  const missing = [...there].filter((table) => !Object.hasOwn(owners, table))
  const gone = migrations.length === 0 ? [] : Object.keys(owners).filter((table) => !there.has(table))
  return [
    ...missing.map((table) => `the table ${table} has no owner`),
    ...gone.map((table) => `the table ${table} has an owner and is not there`),
  ]
}

/** `queryVersions` is `query_versions` there. */
function inDatabase(name: string): string {
  return name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
}

/** What the first argument of a call names: one table, a list of them, none (a subquery) or null: something else. */
function argumentNames(rest: string): string[] | null {
  if (rest.startsWith('(')) return []
  const list = /^\[[^\]]*\]/.exec(rest)?.[0] ?? /^(['"`])[^'"`]*\1/.exec(rest)?.[0]
  if (list === undefined) return null
  return [...list.matchAll(/['"`](?:\w+\.)?(\w+)(?:\s+as\s+\w+)?['"`]/g)].map(([, name = '']) => inDatabase(name))
}

const sqlStart =
  /^[\s(]*(select|insert|update|delete|with|copy|merge|truncate|lock|from|where|and|or|join|inner|left|right|full|cross|union|exists|using|on)\b/i
const sqlPlaces =
  /\b(?:from|join|into|update|using|copy|truncate|table|lateral)\s+(?:only\s+)?((?:[\w."]+(?:\s+(?:as\s+)?\w+)?\s*,\s*)*[\w."]+)/gi

function tablesOfSql(literal: string): string[] {
  if (!sqlStart.test(literal)) return []
  return [...literal.matchAll(sqlPlaces)].flatMap(([, names = '']) =>
    names.split(',').map((name) => (/[\w."]+/.exec(name)?.[0] ?? '').replaceAll('"', '').split('.').at(-1) ?? ''),
  )
}

/** What stands between two places that a reader must look at. */
const plainCode = /[^'"`/{}]+/y
const regexStart = /(?:^|[(,=:[!&|?{};+\n]|\breturn)\s*$/
const regexLiteral = /\/(?:\\.|\[(?:\\.|[^\]\\\n])*\]|[^/\\\n[*])+\//y

/** A source without its comments, and the texts of its string literals; what is put into a template counts as a space. */
function lex(text: string): { bare: string; literals: string[] } {
  const literals: string[] = []
  const bare: string[] = []
  let at = 0
  const match = (pattern: RegExp): string | undefined => {
    pattern.lastIndex = at
    return pattern.exec(text)?.[0]
  }
  const readLiteral = (quote: string): void => {
    const start = at
    let literal = ''
    at += 1
    while (at < text.length && text[at] !== quote) {
      if (quote === '`' && text.startsWith('${', at)) {
        at += 2
        readCode(true)
        literal += ' '
      } else {
        if (text[at] === '\\') at += 1
        literal += text[at]
        at += 1
      }
    }
    at += 1
    literals.push(literal)
    bare.push(text.slice(start, at))
  }
  /** To the end, or to the brace that closes a place in a template. */
  const readCode = (inTemplate: boolean): void => {
    let depth = 0
    while (at < text.length) {
      const here = text[at] ?? ''
      const plain = match(plainCode)
      if (plain !== undefined) {
        bare.push(plain)
        at += plain.length
      } else if (text.startsWith('//', at)) at = endOf(text, '\n', at)
      else if (text.startsWith('/*', at)) at = endOf(text, '*/', at)
      else if (/['"`]/.test(here)) readLiteral(here)
      else if (here === '/') at += (regexStart.test(bare.at(-1) ?? '') && match(regexLiteral)?.length) || 1
      else {
        at += 1
        if (here === '}' && depth === 0 && inTemplate) return
        depth += here === '{' ? 1 : -1
        bare.push(here)
      }
    }
  }
  readCode(false)
  return { bare: bare.join(''), literals }
}

function endOf(text: string, mark: string, from: number): number {
  const found = text.indexOf(mark, from)
  return found === -1 ? text.length : found + mark.length
}
