/**
 * Which names of headers, parameters and fields stand for secrets: the one list of the whole product. It imports nothing,
 * so that the web app may use it too. A name too many costs three stars in a form; one too few shows a secret.
 */

/** Distinctive enough to count wherever they stand in a name, whatever separates its words. */
const anywhere = new RegExp(
  [
    'authori[sz]ation|authenticat|authcode|bearer|cookie|credential|passw|passphrase|passcode|secret|session|sessid',
    'accesscode|securitycode|verificationcode|signature|token|key(?!word|board|note|stone|frame)',
  ].join('|'),
)

/** Short or ordinary ones, which count as a word of their own: `X-Auth` and `url_sig`, but not `author` and `design`. */
const words = new Set(
  'assertion auth authn authz csrf hmac jwt nonce oauth oauth2 otp pass pwd sas sig totp xauth xsrf'.split(' '),
)

/** So ordinary that they count only alone. */
const whole = new Set('appid code pin sid'.split(' '))

/** Whether a header, parameter or field of this name carries a secret. */
export function isSecretName(name: string): boolean {
  const parts = name
    .replaceAll(/([a-z0-9])([A-Z])/g, '$1 $2')
    .toLowerCase()
    .split(/[^a-z0-9]+/)
    .filter((part) => part !== '')
  const joined = parts.join('')
  return whole.has(joined) || anywhere.test(joined) || parts.some((part) => words.has(part))
}
