import { z } from 'zod'
import { fixedLimits } from '../../../api/limits.ts'
import type { Vault } from '../credentials/vault.ts'
import { permits, permittedQueries } from './permissions.ts'
import type { KeyRecord } from './record.ts'

const prefix = 'slc_browser_'

/**
 * A part of what a key may do, for a page that asks from a browser. The token carries all of this itself, sealed: nothing
 * is stored, so a page may have one for each visitor, and who holds it reads no fixed value out of it.
 */
const claims = z.strictObject({
  id: z.string(),
  keyId: z.string(),
  /** Mark of the secret that it was made with: when that secret ends, the token does. */
  secret: z.string(),
  projectId: z.string(),
  environment: z.string(),
  /** Null: whatever the key reaches there. */
  queries: z.array(z.string()).nullable(),
  fixedParameters: z.record(z.string(), z.unknown()),
  rate: z.object({ perMinute: z.number(), burst: z.number() }),
  expiresAtMs: z.number(),
})
export type BrowserToken = z.output<typeof claims>

/** Whether it is meant as one; whether it is good is another question. */
export function isBrowserToken(secret: string): boolean {
  return secret.startsWith(prefix)
}

export function sealBrowserToken(vault: Vault, token: BrowserToken): string {
  return prefix + vault.seal(token).toString('base64url')
}

/** Undefined for what this installation has not sealed as a browser token, or what was changed since. */
export function openBrowserToken(vault: Vault, secret: string): BrowserToken | undefined {
  if (secret.length > fixedLimits.browserTokenChars.value) return undefined
  try {
    return claims.parse(vault.open(Buffer.from(secret.slice(prefix.length), 'base64url')))
  } catch {
    return undefined
  }
}

/** The key as the token lets it be used. Against what the key may do now, so that a narrower key narrows its tokens. */
export function narrowTo(key: KeyRecord, token: BrowserToken): KeyRecord {
  const { projectId, environment } = token
  const within = permittedQueries(key.permissions, token)
  const queries = within === null ? token.queries : (token.queries?.filter((name) => within.includes(name)) ?? within)
  return {
    ...key,
    permissions: permits(key.permissions, token) ? [{ projectId, environments: [environment], queries }] : [],
    fixedParameters: { ...token.fixedParameters, ...key.fixedParameters },
  }
}

/** Mark of a secret in its tokens: half of its hash, as in the snapshot of keys. */
export function secretMark(hash: string): string {
  return Buffer.from(hash.slice(0, 16), 'latin1').toString('base64url')
}
