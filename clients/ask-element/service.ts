import type { Chart } from '../chart/index.ts'

/** What the page's own server answers: what `POST /v1/browser-tokens` gave it. */
export type Grant = { token: string; expires_at?: string; project_id?: string; environment?: string }

export type Row = Record<string, unknown>
export type Words = { text: string; start: number; end: number }

export type SlotSchema = {
  type: 'string' | 'integer' | 'number' | 'boolean' | 'array'
  format?: string
  title?: string
  description?: string
  enum?: Array<string | number>
  minimum?: number | string
  maximum?: number | string
  default?: unknown
  items?: SlotSchema
}
export type SlotsSchema = { properties: Record<string, SlotSchema>; required: string[] }

type Candidate = { name: string; description: string; example: string }
type Routing = {
  read_as: string | null
  sources: Record<string, Words>
  period?: { text: string } | null
  unused: Words[]
  candidates: Candidate[]
}

export type Answer = {
  data: Row[]
  query_used: string
  parameters: Row
  row_count: number
  truncated: boolean
  as_of: string | null
  /** As the author of the query draws its result. */
  chart?: Chart
  unexpressed?: Words[]
  /** Values of the call that no row has. */
  warnings?: Array<{ slot: string; value: string; nearest: string[] }>
  routing?: Routing
}

export type Refusal = {
  error: string
  message: string
  reason?: string
  retry_after?: number
  details?: Array<{ field: string; message: string }>
  query_used?: string
  parameters?: Row
  schema?: SlotsSchema
  candidates?: Candidate[]
  unexpressed?: Words[]
  routing?: Routing
}

export type Wish = { question: string; queryName?: string; parameters?: Row; partial?: boolean }
export type Outcome =
  | { kind: 'answer'; answer: Answer }
  | { kind: 'refusal'; status: number; refusal: Refusal }
  | { kind: 'unreachable' }
  | { kind: 'no-access' }

export type Settings = {
  serviceUrl: string
  /** Undefined: as the token's server says. */
  projectId: string | undefined
  environment: string | undefined
  /** Refuse also what is only likely to be left out. */
  strict: boolean
  getGrant: () => Promise<Grant>
}

const tokenLimitMs = 15_000
const answerLimitMs = 60_000
/** A token that ends while the question is on its way is as bad as none. */
const renewBeforeMs = 10_000

/** Asks the service, with a token that is fetched when there is none and again when it is over. */
export function createAsker(read: () => Settings) {
  let grant: Grant | undefined

  const good = async (): Promise<Grant> => {
    const endsAt = grant?.expires_at === undefined ? Infinity : Date.parse(grant.expires_at)
    if (grant === undefined || endsAt - Date.now() < renewBeforeMs) {
      grant = undefined
      grant = await within(tokenLimitMs, read().getGrant())
    }
    return grant
  }

  const send = async (wish: Wish, signal: AbortSignal): Promise<Outcome> => {
    const held = await good().catch(() => undefined)
    const { serviceUrl, strict, projectId = held?.project_id, environment = held?.environment } = read()
    if (held === undefined || projectId === undefined) return { kind: 'no-access' }
    const answer = await fetch(new URL('/v1/query', serviceUrl), {
      method: 'POST',
      headers: {
        authorization: `Bearer ${held.token}`,
        'content-type': 'application/json',
        ...(environment !== undefined && { 'x-sluice-environment': environment }),
      },
      body: JSON.stringify({
        query: wish.question,
        project_id: projectId,
        explain: true,
        time_zone: Intl.DateTimeFormat().resolvedOptions().timeZone,
        ...(wish.queryName !== undefined && { query_name: wish.queryName }),
        ...(wish.parameters !== undefined && { parameters: wish.parameters }),
        ...(wish.partial === true ? { partial: true } : { strict }),
      }),
      credentials: 'omit',
      signal: AbortSignal.any([signal, AbortSignal.timeout(answerLimitMs)]),
    })
    const body: unknown = await answer.json()
    if (answer.ok) return { kind: 'answer', answer: body as Answer }
    return { kind: 'refusal', status: answer.status, refusal: body as Refusal }
  }

  return {
    forget: (): void => {
      grant = undefined
    },
    async ask(wish: Wish, signal: AbortSignal): Promise<Outcome> {
      try {
        const first = await send(wish, signal)
        if (first.kind !== 'refusal' || first.status !== 401) return first
        // Its key was rotated, or this machine's clock is wrong: another token may do.
        grant = undefined
        const second = await send(wish, signal)
        return second.kind === 'refusal' && second.status === 401 ? { kind: 'no-access' } : second
      } catch (error) {
        if (signal.aborted) throw error
        return { kind: 'unreachable' }
      }
    },
  }
}

/** Asks the page's own server, which knows who is signed in there by its own cookie. */
export async function fetchGrant(url: string): Promise<Grant> {
  const answer = await fetch(url, {
    method: 'POST',
    headers: { accept: 'application/json' },
    credentials: 'same-origin',
    signal: AbortSignal.timeout(tokenLimitMs),
  })
  const body = (await answer.json()) as Partial<Grant>
  if (!answer.ok || typeof body.token !== 'string') throw new Error(`${url} gave no token`)
  return { ...body, token: body.token }
}

function within<Value>(limitMs: number, work: Promise<Value>): Promise<Value> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(new Error('No token came in time.')), limitMs)
    work.then(resolve, reject).finally(() => clearTimeout(timer))
  })
}
