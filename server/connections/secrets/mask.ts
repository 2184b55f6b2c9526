import type { HttpConfiguration } from '../../../api/connections.ts'
import { type Failure, invalidField } from '../../failure.ts'
import { mapSecrets, type SecretPlace } from './places.ts'
import { decoded } from './texts.ts'

/** Three stars stand in the place of a secret in every stored request, answer, error and log line. */
export const hidden = '***'

/** A configuration as it may be stored, shown and logged. Names stay, secret values do not. */
export function maskConfiguration(configuration: HttpConfiguration): HttpConfiguration {
  return mapSecrets(configuration, ({ written }) => (written === 'json' ? JSON.stringify(hidden) : hidden))
}

/** The addresses of the given and the stored request, with those of their APIs before them. */
type Addresses = { given: string; stored: string | undefined }

/**
 * Puts the stored secrets where a caller sent back the `***` they were shown. Each is bound to the address it was stored
 * for, by scheme, host and port: whoever may edit a connection must not be able to send its secrets elsewhere. Nor may
 * it come to stand where it would be shown, so three stars that are left over are refused as well.
 */
export function restoreConfiguration(
  given: HttpConfiguration,
  stored: HttpConfiguration | undefined,
  addresses: Addresses = { given: given.url, stored: stored?.url },
): HttpConfiguration {
  const secrets = new Map<string, { place: SecretPlace; value: unknown }>()
  if (stored !== undefined) mapSecrets(stored, (place, value) => (secrets.set(place.key, { place, value }), value))
  const used = new Map<string, { field: string; value: unknown }>()
  const restored = mapSecrets(given, (place, value) => {
    const text = meaning(place, value)
    if (!holdsMask(text)) return value
    const known = secrets.get(place.key)
    const secret = known === undefined ? undefined : meaning(known.place, known.value)
    if (stored === undefined || known === undefined || holdsMask(secret) || !isMaskOf(text, secret)) {
      throw noneStored(place.field)
    }
    if (!isBoundTo(place, { given, stored, addresses })) throw addressChanged(place.field)
    // As it was written, or where one body is text and the other is not, as it is written here.
    const back = known.place.written === place.written ? known.value : written(place, secret)
    used.set(place.key, { field: place.field, value: back })
    return back
  })
  refuseMasks(restored)
  mapSecrets(restored, ({ key }, value) => (used.get(key)?.value === value && used.delete(key), value))
  for (const { field } of used.values()) throw noneStored(field)
  return restored
}

type Compared = { given: HttpConfiguration; stored: HttpConfiguration; addresses: Addresses }

function isBoundTo({ goesTo }: SecretPlace, { given, stored, addresses }: Compared): boolean {
  const isSame = (left: unknown, right: unknown) => originOf(left) === originOf(right)
  const isSameUrl = isSame(addresses.given, addresses.stored)
  if (goesTo === 'url') return isSameUrl
  const isSameTokenUrl = isSame(given.auth?.['token_url'], stored.auth?.['token_url'])
  // The token that the credentials buy is sent to the other address.
  return goesTo === 'token_url' ? isSameTokenUrl : isSameUrl && isSameTokenUrl
}

export function originOf(url: unknown): unknown {
  return typeof url === 'string' && URL.canParse(url) ? new URL(url).origin : url
}

/** A secret as it is meant, however it is written. */
function meaning(place: SecretPlace, value: unknown): unknown {
  if (typeof value !== 'string' || place.written === 'plain') return value
  if (place.written === 'encoded') return decoded(value)
  try {
    return JSON.parse(value)
  } catch {
    return value
  }
}

function written(place: SecretPlace, value: unknown): unknown {
  if (place.written === 'json') return JSON.stringify(value)
  return place.written === 'encoded' ? encodeURIComponent(String(value)) : value
}

/** Three stars that stand alone, also behind a scheme or a name: `Bearer ***`, `session=***`. */
const mask = /(^|[\s=:;,"'])\*\*\*($|[\s;,&"'])/

function holdsMask(value: unknown): boolean {
  if (typeof value === 'string') return mask.test(value)
  return typeof value === 'object' && value !== null && Object.values(value).some(holdsMask)
}

/** A scheme may stand before the stars. Only known ones: else a guess could be confirmed word by word. */
const schemes = /^(bearer|basic|token|apikey|key|oauth|dpop|jwt|digest) \*\*\*$/i

function isMaskOf(given: unknown, stored: unknown): boolean {
  if (given === hidden) return true
  if (typeof given !== 'string' || typeof stored !== 'string' || !schemes.test(given)) return false
  const scheme = given.slice(0, -hidden.length).toLowerCase()
  return stored.toLowerCase().startsWith(scheme)
}

/** Three stars where nothing is secret: a switch was taken away, or a shown configuration was given as a new one. */
function refuseMasks({ headers, parameters, parameterGroups, auth, body }: HttpConfiguration): void {
  const visit = (value: unknown, field: string): void => {
    if (value === hidden) throw noneStored(field.replace(/\.value$/, ''))
    if (typeof value !== 'object' || value === null) return
    for (const [name, inner] of Object.entries(value)) visit(inner, `${field}.${name}`)
  }
  for (const [field, value] of Object.entries({ headers, parameters, parameterGroups, auth, body })) visit(value, field)
}

function addressChanged(field: string): Failure {
  return refusal(field, 'its address changed, and a stored secret is sent only to the address it was stored for')
}

function noneStored(field: string): Failure {
  return refusal(field, 'three stars stand for a stored secret, and none is stored for this place')
}

function refusal(field: string, why: string): Failure {
  return invalidField(field, `must be given again: ${why}`, { message: `Give ${field} again: ${why}.` })
}
