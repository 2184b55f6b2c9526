import { createPrivateKey, type KeyObject } from 'node:crypto'
import { invalidField } from '../../failure.ts'

/** Signing takes by the third power of it: 15 ms with 4,096 bits, and 300 ms with 16,384. */
const maxBits = 8_192
/** About 50 ms. An author writes the number into the key, and may write billions. */
const maxRounds = 100_000
/** 1.3.6.1.4.1.11591.4.11, which takes time in three ways. */
const scrypt = Buffer.from('2b06010401da47040b', 'hex')

/** A private key in PEM, also where its line breaks came as `\n`, as in a JSON file. Refuses one that takes long to use. */
export function privateKeyIn(text: string, passphrase?: string): KeyObject {
  const pem = text.replaceAll(String.raw`\n`, '\n')
  refuseSlowPassphrase(pem)
  let key: KeyObject
  try {
    key = createPrivateKey({ key: pem, ...(passphrase !== undefined && { passphrase }) })
  } catch {
    throw refused('is no private key in PEM, such as -----BEGIN PRIVATE KEY-----, or its passphrase is another')
  }
  if ((key.asymmetricKeyDetails?.modulusLength ?? 0) > maxBits) throw refused(`has more than ${maxBits} bits`)
  return key
}

/** Looks before anything is decrypted, on the event loop, in as many rounds as the key says. */
function refuseSlowPassphrase(pem: string): void {
  for (const part of pem.split('-----BEGIN ').slice(1)) {
    const [name = '', body = ''] = part.split('-----', 2)
    // Older ways to encrypt, with a header, take one round.
    const isOlder = /^[A-Z]+ PRIVATE KEY$/.test(name) && name !== 'ENCRYPTED PRIVATE KEY'
    if (isOlder || !name.endsWith('PRIVATE KEY') || roundsOf(body) <= maxRounds) continue
    throw refused(`is encrypted with scrypt, or in more than ${maxRounds} rounds; give it without a passphrase`)
  }
}

/** Zero where it is not encrypted, and no end of them where that cannot be read. */
function roundsOf(base64: string): number {
  if (!/^[A-Za-z0-9+/=\s]*$/.test(base64)) return Infinity
  const bytes = Buffer.from(base64, 'base64')
  try {
    const key = contentOf(bytes)
    // A version comes first where it is not.
    if (key[0] === integer) return 0
    return bytes.includes(scrypt) ? Infinity : largestNumber(contentOf(key))
  } catch {
    return Infinity
  }
}

const [integer, list] = [0x02, 0x30]

/** The largest integer among elements of DER, at any depth. */
function largestNumber(bytes: Buffer): number {
  let largest = 0
  for (let at = 0; at < bytes.length;) {
    const { tag, content, end } = elementAt(bytes, at)
    if (tag === list) largest = Math.max(largest, largestNumber(content))
    if (tag === integer) largest = Math.max(largest, content.readUIntBE(0, content.length))
    at = end
  }
  return largest
}

function contentOf(bytes: Buffer): Buffer {
  return elementAt(bytes, 0).content
}

/** Throws where DER has no such length. */
function elementAt(bytes: Buffer, at: number): { tag: number; content: Buffer; end: number } {
  const short = bytes.readUInt8(at + 1)
  const more = short < 0x80 ? 0 : short - 0x80
  const start = at + 2 + more
  const end = start + (short < 0x80 ? short : bytes.readUIntBE(at + 2, more))
  if (end > bytes.length) throw new RangeError('an element that ends behind its list')
  return { tag: bytes.readUInt8(at), content: bytes.subarray(start, end), end }
}

function refused(message: string): Error {
  return invalidField('auth.private_key', message)
}
