import { fixedLimits } from '../../../api/limits.ts'
import type { Clock } from '../../clock.ts'
import type { Config } from '../../config.ts'
import { Failure, maxHints, perhaps, type FailureDetail } from '../../failure.ts'
import { newId } from '../../ids.ts'
import type { Vault } from '../credentials/vault.ts'
import type { KeyCaller } from './admit.ts'
import { narrowTo, sealBrowserToken, secretMark, type BrowserToken } from './browser-token.ts'
import { permits, permittedQueries } from './permissions.ts'
import type { KeyRecord } from './record.ts'
import { outOfReach, resolveScope, unnamedProject, type Address } from './resolve.ts'

/** A port: what is deployed in a place, and the slots of each. */
type DeployedQueries = {
  list(
    projectId: string,
    environment: string,
  ): ReadonlyArray<{ name: string; version: { compiled(): { names: ReadonlySet<string> } } }>
}

type Parts = {
  browserTokens: Vault
  deployments: DeployedQueries
  config: Pick<Config, 'limits'>
  now: Clock
}

type Wanted = Pick<Address, 'projectId' | 'environment'> & {
  queries: string[] | null
  fixedParameters: Record<string, unknown>
  rate: { perMinute: number; burst: number }
  lifeSeconds: number
}

/** A token for a browser, no wider than the key that asks for it. It lives minutes, and ends with the key. */
export function mintBrowserToken(
  app: Parts,
  { key, secret }: KeyCaller,
  { queries, fixedParameters, rate, lifeSeconds, ...address }: Wanted,
): BrowserToken & { text: string } {
  const { projectId, environment } = resolveScope(key, address)
  if (projectId === undefined) throw unnamedProject()
  for (const queryName of queries ?? []) {
    if (!permits(key.permissions, { projectId, environment, queryName })) throw outOfReach(address)
  }
  const until = secret === 'previous' ? Math.min(key.expiresAtMs, key.previousUntilMs) : key.expiresAtMs
  const token: BrowserToken = {
    id: newId('browserToken', app.now()),
    keyId: key.id,
    secret: secretMark(secret === 'previous' ? (key.previousHash ?? '') : key.hash),
    projectId,
    environment,
    queries,
    fixedParameters,
    rate,
    expiresAtMs: Math.min(app.now() + lifeSeconds * 1000, until),
  }
  refuseInvalid(app, { key, token })
  const text = sealBrowserToken(app.browserTokens, token)
  if (text.length > fixedLimits.browserTokenChars.value) {
    const most = fixedLimits.browserTokenChars.value
    const message = `The token would have ${text.length} characters, more than ${most}: name fewer queries, or fix shorter values.`
    throw new Failure('invalid_query', { reason: 'invalid_field', message })
  }
  return { ...token, text }
}

function refuseInvalid(app: Parts, { key, token }: { key: KeyRecord; token: BrowserToken }): void {
  const details: FailureDetail[] = []
  const slots = slotsWithin(app, narrowTo(key, token), token)
  for (const name of Object.keys(token.fixedParameters)) {
    const field = `fixed_parameters.${name}`
    if (Object.hasOwn(key.fixedParameters, name)) details.push({ field, message: 'is fixed by the API key already' })
    // A misspelled name would fix nothing, and the page would show what it must not.
    else if (!slots.has(name)) {
      const hint = details.length < maxHints ? perhaps(name, slots) : ''
      details.push({ field, message: `no query that the token reaches has such a slot${hint}` })
    }
  }
  if (details.length > 0) throw new Failure('invalid_query', { reason: 'invalid_field', details })
}

function slotsWithin(
  { deployments }: Parts,
  { permissions }: KeyRecord,
  { projectId, environment }: BrowserToken,
): Set<string> {
  const names = permittedQueries(permissions, { projectId, environment })
  const reached = deployments.list(projectId, environment).filter(({ name }) => names === null || names.includes(name))
  return new Set(reached.flatMap(({ version }) => [...version.compiled().names]))
}
