import { createHash } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import { LRUCache } from 'lru-cache'
import { Agent, type Dispatcher } from 'undici'
import { untilAborted } from '../../flow/index.ts'
import type { ClientCertificate, OutboundRequest } from '../request/build-request.ts'
import { guardedConnector, parseAllow, resolveBySystem, resolveGuarded, type Resolver } from './guard.ts'
import { Failure } from '../../failure.ts'
import { classify, lateError, outboundError, thrown, isOutboundError, type OutboundError } from './error.ts'
import { acceptedEncodings, encodingOf, receive, type BodyLimits, type Sink } from './receive.ts'
import { isRedirect, redirected } from './redirect.ts'
import type { Pace } from './pace.ts'
import { backoffMs, closedMs, isRetryable, nextTryMs, statusMeant, type AttemptOutcome } from './retry.ts'

export type OutboundOptions = {
  /** Entries of `SLUICE_OUTBOUND_ALLOW`. */
  allow: string[]
  connectTimeoutMs?: number
  /** Most connections to one origin at a time. */
  connectionsPerOrigin?: number
  backoffBaseMs?: number
  backoffMaxMs?: number
  resolver?: Resolver
  /** A further certificate authority to trust, in PEM. */
  ca?: string
  now?: () => number
  chance?: () => number
  wait?: (ms: number, signal: AbortSignal) => Promise<void>
}

export type SendOptions = BodyLimits & {
  /** All tries, waits and redirects together. */
  timeoutMs: number
  /** One try with its redirects. */
  tryTimeoutMs?: number
  redirects: number
  retries: number
  /** Turns that calls to the same API take. */
  pace?: Pace | undefined
  sink: Sink
  signal?: AbortSignal | undefined
}

export type Sent = {
  ok: true
  status: number
  /** Names in lower case; a header that came several times is joined with a comma. */
  headers: Record<string, string>
  url: string
  redirects: number
  tries: number
  elapsedMs: number
  wireBytes: number
  decodedBytes: number
  truncated: boolean
}
export type NotSent = { ok: false; error: OutboundError; tries: number; elapsedMs: number }
export type Outbound = {
  send: (request: OutboundRequest, options: SendOptions) => Promise<Sent | NotSent>
  /** Whether an address could be called as things stand, without calling it: null, or why not. */
  check: (url: string) => Promise<OutboundError | null>
  close: () => Promise<void>
}

type Head = {
  status: number
  headers: Record<string, string>
  body: Dispatcher.ResponseData['body']
  url: URL
  hop: number
}

const headerBytes = 65_536

/** The one client for everything that leaves the server. Nothing it does passes the address guard by. */
// Over 70 lines: a try, its redirects and its retries share the agent and one deadline.
export function openOutbound(options: OutboundOptions): Outbound {
  const now = options.now ?? Date.now
  const chance = options.chance ?? Math.random
  const wait = options.wait ?? ((ms, signal) => delay(ms, undefined, { signal }))
  const guard = {
    allow: parseAllow(options.allow),
    resolver: options.resolver ?? resolveBySystem,
    connectTimeoutMs: options.connectTimeoutMs ?? 10_000,
    ca: options.ca,
  }
  const agents = openAgents((certificate) => ({
    connect: guardedConnector({ ...guard, certificate }),
    connections: options.connectionsPerOrigin ?? 16,
    pipelining: 1,
    maxHeaderSize: headerBytes,
    // The deadline of the whole call is the limit; these two only count idle time.
    headersTimeout: 0,
    bodyTimeout: 0,
  }))

  /** Follows redirects until an answer that is none. */
  async function headOf(first: OutboundRequest, most: number, signal: AbortSignal): Promise<Head> {
    let request = first
    for (let hop = 0; ; hop += 1) {
      const url = new URL(request.url)
      const signed = () => request.signer?.sign(request, now()) ?? request
      let answer = await ask(signed(), url, { hop, signal })
      const challenge = answer.status === 401 ? answer.headers['www-authenticate'] : undefined
      if (challenge !== undefined && request.signer?.challenged?.(challenge) === true) {
        letGo(answer.body)
        answer = await ask(signed(), url, { hop, signal })
      }
      const { status, headers, body } = answer
      if (!isRedirect(status, headers['location'])) return answer
      letGo(body)
      if (hop >= most) throw thrown(tooManyRedirects(url, most))
      const next = redirected(request, status, headers['location'])
      if ('refused' in next) throw thrown(next.refused === 'body' ? secretBodyStays(url) : noWebAddress(url))
      request = next.request
    }
  }

  async function ask(
    request: OutboundRequest,
    url: URL,
    { hop, signal }: { hop: number; signal: AbortSignal },
  ): Promise<Head> {
    try {
      const asking = agents.of(request.certificate).request({
        origin: url.origin,
        path: `${url.pathname}${url.search}`,
        method: request.method,
        headers: { 'accept-encoding': acceptedEncodings, ...request.headers },
        body: request.body ?? null,
        signal,
      })
      const answer = await headUntilAborted(asking, signal)
      return { status: answer.statusCode, headers: joined(answer.headers), body: answer.body, url, hop }
    } catch (error) {
      throw signal.aborted ? error : thrown(classify(error, { url, hop, phase: 'head' }))
    }
  }

  async function keep(
    head: Head,
    request: OutboundRequest,
    { options, signal }: { options: SendOptions; signal: AbortSignal },
  ) {
    const isBare = request.method === 'HEAD' || head.status === 204 || head.status === 304
    try {
      const coding = isBare ? 'identity' : encodingOf(head.headers['content-encoding'])
      const limits = {
        maxWireBytes: options.maxWireBytes,
        maxDecodedBytes: options.maxDecodedBytes,
        beyond: options.beyond,
      }
      return await receive(head.body, coding, { head, sink: options.sink, limits, signal })
    } catch (error) {
      letGo(head.body)
      throw signal.aborted || error instanceof Failure
        ? error
        : thrown(classify(error, { url: head.url, hop: head.hop, phase: 'body' }))
    }
  }

  async function send(request: OutboundRequest, options: SendOptions): Promise<Sent | NotSent> {
    const started = performance.now()
    const elapsedMs = () => Math.round(performance.now() - started)
    const total = AbortSignal.timeout(options.timeoutMs)
    const outer = options.signal === undefined ? total : AbortSignal.any([total, options.signal])
    for (let tries = 1; ; tries += 1) {
      const turn = await options.pace?.enter({ waitMs: options.timeoutMs - elapsedMs(), signal: outer })
      if (turn !== undefined && 'opensInMs' in turn) {
        options.signal?.throwIfAborted()
        const error = turnedAway(new URL(request.url), turn.opensInMs)
        return { ok: false, error, tries: tries - 1, elapsedMs: elapsedMs() }
      }
      const one = options.tryTimeoutMs === undefined ? total : AbortSignal.timeout(options.tryTimeoutMs)
      const signal = AbortSignal.any([outer, one])
      /** How long to wait for another try; `null` when this one was the last. */
      const waitMs = (outcome: AttemptOutcome, asked: number | null): number | null => {
        if (tries > options.retries || outer.aborted || !isRetryable(request.method, outcome)) return null
        const backoff = backoffMs(tries - 1, chance(), { baseMs: backoffBaseMs, maxMs: backoffMaxMs })
        return nextTryMs(asked, backoff, options.timeoutMs - elapsedMs())
      }
      let pauseMs: number | null
      let last: Sent | NotSent | null = null
      try {
        const head = await headOf(request, options.redirects, signal)
        const closed = closedMs(head, now())
        if (closed !== null) await options.pace?.pause(closed)
        pauseMs = waitMs({ status: statusMeant(head, now()) }, closed)
        if (pauseMs === null) {
          const received = await keep(head, request, { options, signal })
          const { status, headers, url, hop: redirects } = head
          return { ok: true, status, headers, url: url.href, redirects, tries, elapsedMs: elapsedMs(), ...received }
        }
        letGo(head.body)
      } catch (error) {
        options.signal?.throwIfAborted()
        if (error instanceof Failure) throw error
        const url = new URL(request.url)
        const isLate = signal.aborted && !isOutboundError(error)
        const limitMs = total.aborted ? options.timeoutMs : (options.tryTimeoutMs ?? options.timeoutMs)
        const failed = isLate ? lateError(url, limitMs) : classify(error, { url, hop: 0, phase: 'head' })
        last = { ok: false, error: failed, tries, elapsedMs: elapsedMs() }
        pauseMs = waitMs({ error: failed.code }, null)
      } finally {
        await turn?.leave()
      }
      if (pauseMs === null && last !== null) return last
      await wait(pauseMs ?? 0, outer).catch(() => options.signal?.throwIfAborted())
    }
  }

  async function check(text: string): Promise<OutboundError | null> {
    const url = new URL(text)
    try {
      await resolveGuarded(url, guard)
      return null
    } catch (error) {
      return classify(error, { url, hop: 0, phase: 'head' })
    }
  }

  const { backoffBaseMs = 500, backoffMaxMs = 10_000 } = options
  return { send, check, close: () => agents.close() }
}

const maxAgents = 32

/** Connections of their own for each certificate: another client is behind it. */
function openAgents(optionsOf: (certificate: ClientCertificate | undefined) => Agent.Options) {
  const plain = new Agent(optionsOf(undefined))
  const known = new LRUCache<string, Agent>({ max: maxAgents, dispose: (agent) => void agent.close() })
  return {
    of(certificate: ClientCertificate | undefined): Agent {
      if (certificate === undefined) return plain
      // The key is a hash, so that the secret is held once.
      const key = createHash('sha256').update(JSON.stringify(certificate)).digest('base64')
      const found = known.get(key) ?? new Agent(optionsOf(certificate))
      known.set(key, found)
      return found
    },
    async close(): Promise<void> {
      await Promise.all([plain, ...known.values()].map((agent) => agent.destroy()))
    },
  }
}

/** An API that takes no call within the time there is. */
function turnedAway(url: URL, opensInMs: number): OutboundError {
  const when = opensInMs >= 120_000 ? `${Math.round(opensInMs / 60_000)} minutes` : `${Math.ceil(opensInMs / 1000)} s`
  const message = `${url.host} takes no more calls for ${when}: its rate is used up. Try again then.`
  return outboundError('rate_limited', message)
}

/** Gives up an answer whose body nobody reads; its connection is closed with it. */
function letGo(body: Dispatcher.ResponseData['body']): void {
  body.on('error', () => {}).destroy()
}

/**
 * undici hears of an abort only once it is connected: without this, a name server that never answers would hold the
 * call beyond its deadline. An answer that comes too late is let go of.
 */
async function headUntilAborted(
  asking: Promise<Dispatcher.ResponseData>,
  signal: AbortSignal,
): Promise<Dispatcher.ResponseData> {
  try {
    return await untilAborted(asking, signal)
  } catch (error) {
    if (signal.aborted) asking.then(({ body }) => letGo(body)).catch(() => {})
    throw error
  }
}

function tooManyRedirects(url: URL, most: number): OutboundError {
  const message = `${url.host} redirects more than ${most} times. Use the address it should end at.`
  return outboundError('too_many_redirects', message)
}

function noWebAddress(url: URL): OutboundError {
  return outboundError('blocked', `${url.host} redirects to something that is no http or https address.`)
}

/** Where a body would take its secrets along to an address they were not given for. */
export function secretBodyStays(url: URL): OutboundError {
  const message = `${url.host} sends this call on to another address, and its body holds secrets that are sent only to the address they were given for. Use the other address itself.`
  return outboundError('blocked', message)
}

function joined(headers: Record<string, string | string[] | undefined>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name, Array.isArray(value) ? value.join(', ') : (value ?? '')]),
  )
}
