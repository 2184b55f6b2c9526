/** A name that stands for a value which is kept elsewhere: `{{secret:stripe}}`, `{{var:region}}`. */
const reference = String.raw`\{\{\s*(?:secret|var):\s*[a-z][a-z0-9_]*\s*\}\}`
/** A known scheme may stand before it. Anything else beside it could be a secret itself. */
const referenceAlone = new RegExp(
  `^"?(?:(?:bearer|basic|token|apikey|key|oauth|dpop|jwt|digest) )?(?:${reference})+"?$`,
  'i',
)

/** Whether a value is nothing but references, and can be shown. */
export function isReference(value: unknown): boolean {
  return typeof value === 'string' && referenceAlone.test(value)
}

/** Whether a value, or anything in it, is filled with a secret when it is sent. */
export function holdsSecretReference(value: unknown): boolean {
  if (typeof value === 'string') return /\{\{\s*secret:/.test(value)
  return typeof value === 'object' && value !== null && Object.values(value).some(holdsSecretReference)
}
