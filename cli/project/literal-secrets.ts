import { isSecretName } from '../../api/secret-names.ts'
import type { Path } from './problem.ts'
import { isRecord } from './references.ts'

/** Fields of `auth` that are secret whatever they are called; the others of it tell who asks. */
const secretAuth = new Set(
  'value token password client_secret secret private_key passphrase secret_access_key session_token'.split(' '),
)

/** Places of a request that hold a secret in the open. The service seals the same places. */
export function literalSecrets(config: unknown, isLiteral: (written: unknown) => boolean): Path[] {
  if (!isRecord(config)) return []
  const found: Path[] = []
  const look = (path: Path, written: unknown): void => void (isLiteral(written) && found.push(path))
  for (const [name, value] of Object.entries(fieldsOf(config['auth']))) {
    if (secretAuth.has(name)) look(['auth', name], value)
  }
  const named: Array<[Path, unknown]> = [
    [['headers'], config['headers']],
    [['parameters'], config['parameters']],
    ...listOf(config['parameterGroups']).map((group, at): [Path, unknown] => [
      ['parameterGroups', at, 'parameters'],
      fieldsOf(group)['parameters'],
    ]),
  ]
  for (const [path, all] of named) {
    for (const [name, written] of Object.entries(fieldsOf(all))) {
      const isObject = isRecord(written)
      const isSecret = isSecretName(name) || (isObject && written['secret'] === true)
      if (isSecret) look([...path, name, ...(isObject ? ['value'] : [])], isObject ? written['value'] : written)
    }
  }
  return found
}

function fieldsOf(value: unknown): Record<string, unknown> {
  return isRecord(value) ? value : {}
}

function listOf(value: unknown): unknown[] {
  return Array.isArray(value) ? value : []
}
