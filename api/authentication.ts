import { z } from 'zod'
import { notBlank } from './envelope.ts'
import { fixedLimits } from './limits.ts'

/** The wire of how a request proves who asks: the types of authentication and what each needs. */

export const url = z
  .string('is required')
  .trim()
  .min(1, 'must not be empty')
  .max(fixedLimits.urlChars.value, `has more than ${fixedLimits.urlChars.value} characters`)
  .meta(notBlank)

/** `None`, `API Key`, …, and the short spellings, in any case and with any of space, `-` and `_` between words. */
const authSpellings = new Map([
  ['none', 'None'],
  ['apikey', 'API Key'],
  ['bearer', 'Bearer Token'],
  ['bearertoken', 'Bearer Token'],
  ['basic', 'Basic Auth'],
  ['basicauth', 'Basic Auth'],
  ['oauth2clientcredentials', 'OAuth2 Client Credentials'],
  ['oauth2', 'OAuth2 Client Credentials'],
  ['oauth2authorizationcode', 'OAuth2 Authorization Code'],
  ['oauth2code', 'OAuth2 Authorization Code'],
  ['login', 'Login Request'],
  ['loginrequest', 'Login Request'],
  ['digest', 'Digest Auth'],
  ['digestauth', 'Digest Auth'],
  ['jwt', 'Signed JWT'],
  ['signedjwt', 'Signed JWT'],
  ['awssignature', 'AWS Signature'],
  ['awssigv4', 'AWS Signature'],
  ['sigv4', 'AWS Signature'],
  ['hmac', 'HMAC'],
  ['clientcertificate', 'Client Certificate'],
] as const)

export const authTypes = [
  'None',
  'API Key',
  'Bearer Token',
  'Basic Auth',
  'OAuth2 Client Credentials',
  'OAuth2 Authorization Code',
  'Login Request',
  'Digest Auth',
  'Signed JWT',
  'AWS Signature',
  'HMAC',
  'Client Certificate',
] as const
export type AuthType = (typeof authTypes)[number]

export const authType = z
  .string()
  .meta({ enum: [...authTypes] })
  .transform((text) => authSpellings.get(text.toLowerCase().replaceAll(/[\s_-]/g, '') as 'none') ?? text)
  .pipe(z.enum(authTypes, `must be one of ${authTypes.join(', ')}`))

export const filled = (what: string) => z.string(`${what} is required`).min(1, `${what} must not be empty`)

/** Parameters that the protocol itself sets in a request to an authorization server. */
const protocolParameters = new Set(
  (
    'audience client_id client_secret code code_challenge code_challenge_method code_verifier grant_type redirect_uri ' +
    'refresh_token response_type scope state'
  ).split(' '),
)
const oauthClient = {
  token_url: url,
  client_id: filled('the client id'),
  client_auth: z.enum(['basic', 'body'], 'must be basic or body').optional().meta({
    description: 'Where the client proves who it is. Without it, as a header, and where that is refused, in the body.',
  }),
  scope: z.string().optional(),
  audience: z.string().optional(),
  parameters: z
    .record(z.string().min(1).max(200), z.string().max(2_000))
    .refine((given) => Object.keys(given).length <= 20, 'has more than 20 entries')
    .refine(
      (given) => !Object.keys(given).some((name) => protocolParameters.has(name)),
      'names what the protocol itself says; scope and audience have fields of their own',
    )
    .optional()
    .meta({
      description: 'Further parameters for the authorization server, such as `resource` or `access_type`.',
      maxProperties: 20,
    }),
}

/** Parts of a request that an HMAC may be over, in braces. */
export const hmacParts =
  'method host path query path_and_query url body body_sha256 content_type timestamp nonce'.split(' ') as Array<
    | 'method'
    | 'host'
    | 'path'
    | 'query'
    | 'path_and_query'
    | 'url'
    | 'body'
    | 'body_sha256'
    | 'content_type'
    | 'timestamp'
    | 'nonce'
  >
const headerNamed = (what: string) =>
  z.string(`${what} is required`).regex(/^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/, 'must be the name of a header')

export const authShapes = {
  None: z.strictObject({}),
  'API Key': z.strictObject({
    key: filled('the name of the key'),
    value: filled('the value of the key'),
    in: z.enum(['header', 'query', 'cookie'], 'must be header, query or cookie').default('header'),
  }),
  'Bearer Token': z.strictObject({ token: filled('the token'), prefix: z.string().optional() }),
  'Basic Auth': z.strictObject({ username: filled('the user name'), password: z.string('the password is required') }),
  'OAuth2 Client Credentials': z.strictObject({ ...oauthClient, client_secret: filled('the client secret') }),
  'OAuth2 Authorization Code': z.strictObject({
    ...oauthClient,
    authorization_url: url,
    client_secret: z.string().optional().meta({ description: 'A public client has none.' }),
    refresh_token: z
      .string()
      .min(1)
      .optional()
      .meta({ description: 'One that was granted elsewhere, instead of connecting in the app.' }),
  }),
  'Login Request': z
    .strictObject({
      token_url: url,
      body: z.record(z.string().min(1).max(200), z.unknown(), 'the body of the login request is required'),
      body_type: z.enum(['json', 'form'], 'must be json or form').default('json'),
      token_from: z.enum(['body', 'header', 'cookie'], 'must be body, header or cookie').default('body'),
      token_path: filled('the path to the token (or the name of its header or cookie)').max(200),
      expires_path: z.string().min(1).max(200).optional(),
      expires_unit: z.enum(['seconds', 'milliseconds'], 'must be seconds or milliseconds').default('seconds'),
      lifetime_seconds: z.coerce.number().int().min(1).max(31_536_000).optional(),
      in: z.enum(['header', 'cookie'], 'must be header or cookie').default('header'),
      key: z.string().min(1).max(200).optional(),
      prefix: z.string().max(200).optional(),
    })
    .refine(({ in: place, key }) => place === 'header' || key !== undefined, {
      path: ['key'],
      error: 'the name of the cookie is required',
    }),
  'Digest Auth': z.strictObject({ username: filled('the user name'), password: z.string('the password is required') }),
  'Signed JWT': z.strictObject({
    private_key: filled('the private key').max(32_768),
    algorithm: z.enum(['RS256', 'RS384', 'RS512', 'ES256', 'ES384', 'EdDSA']).default('RS256'),
    key_id: z.string().min(1).max(500).optional(),
    issuer: z.string().min(1).max(500).optional(),
    subject: z.string().min(1).max(500).optional(),
    audience: z.string().min(1).max(2_000).optional(),
    scope: z.string().min(1).max(2_000).optional(),
    claims: z.record(z.string(), z.unknown()).optional(),
    lifetime_seconds: z.coerce.number().int().min(60).max(86_400).default(600),
    token_url: url
      .optional()
      .meta({ description: 'Where the token is exchanged for another (RFC 7523), as Google does.' }),
  }),
  'AWS Signature': z.strictObject({
    access_key_id: filled('the access key id'),
    secret_access_key: filled('the secret access key'),
    session_token: z.string().min(1).optional(),
    region: filled('the region').max(100),
    service: filled('the service, such as s3 or execute-api,').max(100),
  }),
  HMAC: z.strictObject({
    secret: filled('the secret'),
    secret_encoding: z.enum(['text', 'base64', 'hex'], 'must be text, base64 or hex').default('text'),
    algorithm: z.enum(['sha256', 'sha512', 'sha1'], 'must be sha256, sha512 or sha1').default('sha256'),
    encoding: z.enum(['hex', 'base64', 'base64url'], 'must be hex, base64 or base64url').default('hex'),
    template: filled('the template')
      .max(2_000)
      .refine(
        (text) => [...text.matchAll(/\{([a-z_0-9]+)\}/g)].every(([, name]) => hmacParts.some((part) => part === name)),
        `knows only {${hmacParts.join('}, {')}}`,
      )
      .refine((text) => text.split('{body').length <= 4, 'names the body more than three times'),
    header: headerNamed('the header of the signature'),
    format: z.string().min(1).max(1_000).default('{signature}'),
    timestamp: z.enum(['unix', 'unix_ms', 'iso'], 'must be unix, unix_ms or iso').default('unix'),
    timestamp_header: headerNamed('the header of the time').optional(),
    nonce_header: headerNamed('the header of the nonce').optional(),
  }),
  'Client Certificate': z.strictObject({
    certificate: filled('the certificate').max(131_072),
    private_key: filled('the private key').max(32_768),
    passphrase: z.string().optional(),
  }),
} as const satisfies Record<AuthType, z.ZodType>

/** `auth` is looked at together with `authType`: an incomplete one is refused, naming what is missing. */
export function checkAuth(
  value: { authType?: AuthType | undefined; auth?: Record<string, unknown> | undefined },
  context: z.RefinementCtx,
): void {
  const type = value.authType ?? 'None'
  if (type === 'None') {
    const given = Object.keys(value.auth ?? {})
    if (given.length > 0 && value.authType === undefined) {
      context.addIssue({ code: 'custom', path: ['authType'], message: 'is required when auth is given' })
    }
    return
  }
  const parsed = authShapes[type].safeParse(value.auth ?? {})
  for (const issue of parsed.error?.issues ?? []) {
    context.addIssue({ code: 'custom', path: ['auth', ...issue.path], message: issue.message })
  }
}

/** The rule of `checkAuth` for the document: another type, or the fields of this one. */
export const authRules = {
  allOf: authTypes.map((type) => {
    const isType = { properties: { authType: { const: type } }, required: ['authType'] }
    if (type === 'None') return { anyOf: [{ required: ['authType'] }, { properties: { auth: { maxProperties: 0 } } }] }
    const { $schema: _, ...auth } = z.toJSONSchema(authShapes[type], { io: 'input' })
    return { anyOf: [{ not: isType }, { properties: { auth }, required: ['auth'] }] }
  }),
}
