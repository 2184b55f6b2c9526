import type { OutboundError } from '../outbound/error.ts'

/** A token is given up this long before it expires, so that it does not expire on the way. */
export const marginMs = 30_000

export type TokenAnswer = { ok: true; token: string | undefined } | { ok: false; error: OutboundError }
/** Where what somebody granted is kept: with an API, with a connection, or while there is none yet with its project. */
export type GrantPlace = { projectId: string; datasourceId?: string | undefined; apiId?: string | undefined }
export type Timing = {
  timeoutMs: number
  signal?: AbortSignal | undefined
  place?: GrantPlace | undefined
  /** One that the API did not take although it was thought to be good. */
  rejected?: string | undefined
}
