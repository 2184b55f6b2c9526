import { z } from 'zod'
import { notBlank, timestamp } from './envelope.ts'
import { fixedLimits } from './limits.ts'
import { role } from './people.ts'

/** Schemes of browsers and systems, which run something, show a file or open a setting: no program of its own has them. */
const neverReturned =
  /^(javascript|data|vbscript|file|filesystem|blob|about|view-source|jar|feed|ws|wss|ftp|mailto|tel|sms|intent|content|resource|chrome[a-z-]*|edge|search|search-ms|ms-[a-z0-9.+-]*):/
const loopback = new Set(['localhost', '127.0.0.1', '[::1]'])

/** Schemes of programs are written with a path or a host behind them, as https is (RFC 8252). */
function isReturnAddress(text: string): boolean {
  const url = URL.parse(text)
  if (url === null || url.hash !== '' || url.username !== '' || url.password !== '') return false
  if (neverReturned.test(url.protocol) || !/^[^:]+:\//.test(text)) return false
  return url.protocol !== 'http:' || loopback.has(url.hostname)
}

const givenUri = z
  .string()
  .max(2_000)
  .regex(/^[\x21-\x7e]*$/, 'must be a URI: other letters than those of ASCII are written as %XX')
  .refine((text) => URL.canParse(text), 'is no address')
const redirectUri = givenUri.refine(
  isReturnAddress,
  'must be an https address, an http address of this machine, or one with a scheme of its own',
)

/** The id from registration, or the address at which a client describes itself. */
const clientId = z.string().max(2_000)

/** The metadata of a client (RFC 7591). More may come; fields not named here are ignored. */
export const registerClient = z.looseObject({
  redirect_uris: z.array(redirectUri).min(1).max(20),
  client_name: z
    .string()
    .trim()
    .min(1)
    .max(fixedLimits.nameChars.value)
    .meta(notBlank)
    .default('A client without a name'),
  token_endpoint_auth_method: z.literal('none').default('none'),
})

/** The metadata of a client at the address that is its name. A client that proves itself by a key of its own is ignored. */
export const clientDocument = registerClient.extend({ client_id: z.string() })

export const registeredClient = z
  .object({
    client_id: z.string(),
    client_id_issued_at: z.int(),
    client_name: z.string(),
    redirect_uris: z.array(z.string()),
    token_endpoint_auth_method: z.literal('none'),
    grant_types: z.array(z.string()),
    response_types: z.array(z.string()),
  })
  .meta({ id: 'OAuthClient' })

const codeChallenge = z.string().regex(/^[A-Za-z0-9_-]{43}$/, 'must be the SHA-256 of the verifier in base64url')

/** The request of a page before it shows which client wants access. */
export const askedClient = z.object({ client_id: clientId, redirect_uri: givenUri })
export const shownClient = z.object({ client_id: z.string(), client_name: z.string(), redirect_uri: z.string() })

/** A person lets a client in. */
export const approveClient = z.strictObject({
  client_id: clientId,
  redirect_uri: givenUri,
  code_challenge: codeChallenge,
  code_challenge_method: z.literal('S256'),
  resource: z.string().max(2_000).optional().meta({ description: 'What the access is for: the address of /mcp.' }),
  state: z.string().max(4_000).optional(),
  project_id: z.string().min(1),
  environment: z.string().min(1).max(63),
})
export const approvedClient = z.object({
  redirect_to: z.string().meta({ description: 'Where the browser goes next, with the code.' }),
})

/** Access to build: as whom, and in which project. */
const permission = {
  role: role.default('owner'),
  project_id: z.string().min(1).optional().meta({ description: 'Every project of the person where it is left out.' }),
}
/** A person lets a program build for them, which waits on the same machine for its browser to come back. */
export const approveProgram = approveClient
  .omit({ project_id: true, environment: true })
  .extend(permission)
  .meta({ id: 'ProgramApproval' })

const userCode = z.string().min(1).max(40).meta({ description: 'What the device shows, in any spelling.' })
export const askedDevice = z.strictObject({ user_code: userCode })
export const waitingDevice = z
  .object({
    client_name: z.string(),
    address: z.string().meta({ description: 'Where the device asked from.' }),
    created_at: timestamp,
  })
  .meta({ id: 'WaitingDevice' })
export const decideDevice = z.strictObject({ user_code: userCode, allow: z.boolean(), ...permission })

const oneOf = z.string().max(4_000)
/** A form, as RFC 6749 wants it. */
export const tokenRequest = z.looseObject({
  grant_type: oneOf,
  client_id: oneOf.default(''),
  code: oneOf.default(''),
  redirect_uri: oneOf.default(''),
  code_verifier: oneOf.default(''),
  refresh_token: oneOf.default(''),
  device_code: oneOf.default(''),
  resource: oneOf.optional(),
})
export const tokens = z
  .object({
    access_token: z.string(),
    token_type: z.literal('Bearer'),
    expires_in: z.int(),
    refresh_token: z.string().optional().meta({ description: 'Of access to queries: access to build is given anew.' }),
    scope: z.enum(['queries', 'manage']),
  })
  .meta({ id: 'OAuthTokens' })
export const deviceRequest = z.looseObject({ client_id: oneOf.default(''), scope: oneOf.optional() })
export const deviceCode = z
  .object({
    device_code: z.string(),
    user_code: z.string(),
    verification_uri: z.string(),
    verification_uri_complete: z.string(),
    expires_in: z.int(),
    interval: z.int(),
  })
  .meta({ id: 'DeviceCode', description: 'As RFC 8628 wants it.' })
export const oauthError = z
  .object({ error: z.string(), error_description: z.string() })
  .meta({ id: 'OAuthError', description: 'As RFC 6749 wants it.' })
export const revokeRequest = z.looseObject({ token: oneOf, client_id: oneOf.default('') })
