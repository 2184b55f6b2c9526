import type { Path } from './problem.ts'

/**
 * `${NAME}` in a file stands for a variable of the environment; `$${` is a `${` that means itself. The service never
 * sees a name, and a file never a value.
 */
const place = /\$\$\{|\$\{([^}]*)\}/g
const name = /^[A-Za-z_][A-Za-z0-9_]*$/

export type Unresolved = { path: Path; name: string }
type Environment = Readonly<Record<string, string | undefined>>

/** A value that the service stores and does not show. */
const hidden = '***'

export function hasReference(text: string): boolean {
  return [...text.matchAll(place)].some(([whole]) => whole !== '$${')
}

/** Values in the place of names, in every text of a value; those that are not set are told. */
export function resolveReferences(
  value: unknown,
  environment: Environment,
): { value: unknown; unresolved: Unresolved[] } {
  const unresolved: Unresolved[] = []
  const resolved = mapTexts(value, (text, path) =>
    text.replaceAll(place, (whole, wanted: string | undefined) => {
      if (whole === '$${') return '${'
      const found = name.test(wanted ?? '') ? environment[wanted ?? ''] : undefined
      if (found === undefined || found === '') unresolved.push({ path, name: wanted ?? '' })
      return found ?? ''
    }),
  )
  return { value: resolved, unresolved }
}

/** A value of the service, written so that it is read as itself. */
export function escapeReferences<Value>(value: Value): Value {
  return mapTexts(value, (text) => text.replaceAll('${', () => '$${')) as Value
}

/**
 * A value of the service, with the names that a file has in its places: where the service shows nothing, and where what
 * it shows can have come from them.
 */
export function keepReferences(fresh: unknown, written: unknown): unknown {
  if (typeof fresh === 'string' && typeof written === 'string') return keepsName(fresh, written) ? written : fresh
  if (Array.isArray(fresh) && Array.isArray(written)) {
    return fresh.map((each: unknown, at) => keepReferences(each, counterpart(each, at, written)))
  }
  if (isRecord(fresh) && isRecord(written)) {
    return mapEntries(fresh, (key, each) =>
      keepReferences(each, Object.hasOwn(written, key) ? written[key] : undefined),
    )
  }
  return fresh
}

/** Things that have names go by them, others by their place. */
function counterpart(fresh: unknown, at: number, written: unknown[]): unknown {
  if (!isRecord(fresh) || typeof fresh['name'] !== 'string') return written[at]
  const isSame = (each: unknown): boolean =>
    isRecord(each) && each['name'] === fresh['name'] && (each['environment'] ?? null) === (fresh['environment'] ?? null)
  return written.find(isSame)
}

function keepsName(fresh: string, written: string): boolean {
  // The service shows of a user name no more than that there is one.
  if (fresh === hidden) return written !== ''
  if (!hasReference(written)) return false
  if (fresh.includes(hidden)) return true
  const pattern = written
    .split(/(\$\$\{|\$\{[^}]*\})/)
    .map((part) => (part.startsWith('${') ? '[\\s\\S]+' : escapePattern(part)))
    .join('')
  return new RegExp(`^${pattern}$`).test(fresh)
}

function escapePattern(text: string): string {
  return text.replaceAll(/[.*+?^${}()|[\]\\/-]/g, '\\$&')
}

type Variable = { name: string; environment?: string | null; secret?: boolean; value: string; origins?: string[] }
type Request = { url?: unknown; auth?: unknown; api_config?: unknown }

/**
 * A request with the variables and secrets that the files hold in the place of `{{secret:name}}` and `{{var:name}}`, for a
 * test before they are released. A secret goes to its origins only, as the service sends it: anything else stays a name,
 * which the service refuses or knows.
 */
export function withFileVariables<Config extends Request>(config: Config, variables: readonly Variable[]): Config {
  const values = variables.filter(
    // A value is never read as a name again.
    ({ environment, value }) => (environment ?? null) === null && value !== hidden && !value.includes('{{'),
  )
  return mapTexts(config, (text, path) =>
    text.replaceAll(/\{\{\s*(secret|var):([\w-]+)\s*\}\}/g, (whole, kind: string, named: string) => {
      const found = values.find((each) => each.name === named && (each.secret === true) === (kind === 'secret'))
      const isSent = found?.secret !== true || (found.origins ?? []).includes(originOf(config, path))
      if (found === undefined || !isSent) return whole
      return path.at(-1) === 'url' ? encodeURIComponent(found.value) : found.value
    }),
  ) as Config
}

/** Where a field of a request is sent: credentials of a token endpoint to it, steps wherever answers lead. */
function originOf(config: Request, path: Path): string {
  const inApi = path[0] === 'api_config'
  const [first, ...rest] = inApi ? path.slice(1) : path
  const request: Request = inApi && isRecord(config.api_config) ? config.api_config : config
  const tokenUrl =
    first === 'auth' && rest[0] !== undefined && isRecord(request.auth) ? request.auth['token_url'] : undefined
  if (first === 'steps') return ''
  const api = isRecord(config.api_config) ? config.api_config['url'] : undefined
  return (
    [tokenUrl, request.url, api].flatMap((url) => (typeof url === 'string' ? (URL.parse(url)?.origin ?? []) : []))[0] ??
    ''
  )
}

function mapTexts(value: unknown, change: (text: string, path: Path) => string, path: Path = []): unknown {
  if (typeof value === 'string') return change(value, path)
  if (Array.isArray(value)) return value.map((each: unknown, at) => mapTexts(each, change, [...path, at]))
  if (isRecord(value)) return mapEntries(value, (key, each) => mapTexts(each, change, [...path, key]))
  return value
}

/** Also with a key `__proto__`, which an assignment would lose. */
function mapEntries(value: Record<string, unknown>, change: (key: string, each: unknown) => unknown): object {
  return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, change(key, each)]))
}

export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
