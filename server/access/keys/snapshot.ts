import { timingSafeEqual } from 'node:crypto'
import { hashCredential } from '../credentials/credential.ts'
import type { BrowserToken } from './browser-token.ts'
import type { KeyRecord } from './record.ts'

/**
 * A secret as it was sent. Taking it apart costs more than finding its key, so whoever keeps this for the next call
 * spares both: its hash stays, and what was found is good until any key changes.
 */
export type KeyCredential = {
  readonly secret: string
  hash: Buffer | null
  found: PresentedKey | undefined
  foundAfter: number
  /** Content of a browser token; null until it was opened. */
  browserToken: BrowserToken | null
}

export type PresentedKey = { key: KeyRecord; secret: 'current' | 'previous' }

export function keyCredential(secret: string): KeyCredential {
  return { secret, hash: null, found: undefined, foundAfter: -1, browserToken: null }
}

/** Every key of the installation in memory, found by the hash of its secret. */
export type Snapshot = {
  find(credential: KeyCredential): PresentedKey | undefined
  /** For what names its key instead of holding the secret. */
  get(keyId: string): KeyRecord | undefined
  put(key: KeyRecord): void
  size(): number
}

/** Half of the hash: enough to tell any keys apart, too little to be the comparison itself. */
const prefixBytes = 16
const nobody = Buffer.alloc(32)

export function openSnapshot(): Snapshot {
  const byId = new Map<string, KeyRecord>()
  const byPrefix = new Map<string, KeyRecord>()
  let changes = 0

  const index = ({ hash, previousHash }: KeyRecord, act: (prefix: string) => void): void => {
    act(hash.slice(0, prefixBytes))
    if (previousHash !== null) act(previousHash.slice(0, prefixBytes))
  }

  const lookUp = (hash: Buffer): PresentedKey | undefined => {
    const key = byPrefix.get(hash.toString('latin1', 0, prefixBytes))
    // The same two comparisons whatever was found: the time tells nothing.
    const isCurrent = equals(hash, key?.hash)
    const isPrevious = equals(hash, key?.previousHash)
    if (key === undefined || (!isCurrent && !isPrevious)) return undefined
    return { key, secret: isCurrent ? 'current' : 'previous' }
  }

  return {
    find(credential) {
      if (credential.foundAfter !== changes) {
        credential.found = lookUp(credential.hash ?? hashCredential(credential.secret))
        credential.foundAfter = changes
      }
      return credential.found
    },
    get: (keyId) => byId.get(keyId),
    put(key) {
      changes += 1
      const known = byId.get(key.id)
      if (known !== undefined) index(known, (prefix) => byPrefix.delete(prefix))
      byId.set(key.id, key)
      index(key, (prefix) => byPrefix.set(prefix, key))
    },
    size: () => byId.size,
  }
}

function equals(hash: Buffer, stored: string | null | undefined): boolean {
  return timingSafeEqual(hash, typeof stored === 'string' ? Buffer.from(stored, 'latin1') : nobody)
}
