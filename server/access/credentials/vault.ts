import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto'

/** Seals the credentials of external APIs at rest, and opens them for the moment of a call. */
export type Vault = {
  seal(secrets: unknown): Buffer
  open(sealed: Buffer): unknown
  /** One for something else, under a key of its own: what one has sealed, the other does not open. */
  forPurpose(purpose: string): Vault
  /** A key for hashes, in hex: the same for the same purpose until the secret key is rotated. */
  hashKey(purpose: string): string
}

/** First byte of everything sealed, so that another way of sealing can follow. */
const format = 1
const nonceBytes = 12
const tagBytes = 16

/** AES-256-GCM under a key derived from `secretKey`: what was changed at rest does not open. */
export function openVault(secretKey: string, purpose = 'vault'): Vault {
  const key = Buffer.from(hkdfSync('sha256', secretKey, '', `sluice ${purpose}`, 32))
  return {
    forPurpose: (other) => openVault(secretKey, other),
    hashKey: (of) => Buffer.from(hkdfSync('sha256', secretKey, '', `sluice hash ${of}`, 32)).toString('hex'),
    seal(secrets) {
      const nonce = randomBytes(nonceBytes)
      const cipher = createCipheriv('aes-256-gcm', key, nonce)
      const body = Buffer.concat([cipher.update(JSON.stringify(secrets), 'utf8'), cipher.final()])
      return Buffer.concat([Buffer.of(format), nonce, cipher.getAuthTag(), body])
    },
    open(sealed) {
      if (sealed[0] !== format) throw new Error('A sealed secret has an unknown format.')
      const nonce = sealed.subarray(1, 1 + nonceBytes)
      const decipher = createDecipheriv('aes-256-gcm', key, nonce)
      decipher.setAuthTag(sealed.subarray(1 + nonceBytes, 1 + nonceBytes + tagBytes))
      const body = Buffer.concat([decipher.update(sealed.subarray(1 + nonceBytes + tagBytes)), decipher.final()])
      return JSON.parse(body.toString('utf8')) as unknown
    },
  }
}
