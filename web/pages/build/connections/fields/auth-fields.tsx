import { PasswordInput, Select, Stack, Text, Textarea, TextInput } from '@mantine/core'
import type { ChangeEvent, ReactNode } from 'react'
import type { AuthType } from '../../shared/wire.ts'
import type { Api } from '../../../../client/wire.ts'
import type { Draft } from './draft.ts'

type Field = {
  name: string
  label: string
  secret?: boolean
  choices?: Array<{ value: string; label: string }>
  /** Several lines; the secret ones are not drawn as they are typed. */
  lines?: boolean
}

const asItIs = (value: string) => ({ value, label: value })
const tokenPlaces = [
  { value: 'body', label: 'the response body' },
  { value: 'header', label: 'a response header' },
  { value: 'cookie', label: 'a cookie' },
]
/** Where a client of OAuth2 proves who it is. */
const clientProofs = [
  { value: '', label: 'as the API takes it' },
  { value: 'basic', label: 'in a header' },
  { value: 'body', label: 'in the body' },
]
const wishes: Field[] = [
  { name: 'scope', label: 'Scope, if any' },
  { name: 'audience', label: 'Audience, if any' },
  { name: 'client_auth', label: 'Client id and secret are sent', choices: clientProofs },
  { name: 'parameters', label: 'Further parameters, one name=value a line', lines: true },
]

const fields: Record<AuthType, Field[]> = {
  None: [],
  'API Key': [
    { name: 'key', label: 'Name of the key' },
    { name: 'value', label: 'Value', secret: true },
    { name: 'in', label: 'Sent as', choices: ['header', 'query', 'cookie'].map(asItIs) },
  ],
  'Bearer Token': [
    { name: 'token', label: 'Token', secret: true },
    { name: 'prefix', label: 'Prefix, if not Bearer' },
  ],
  'Basic Auth': [
    { name: 'username', label: 'User name' },
    { name: 'password', label: 'Password', secret: true },
  ],
  'OAuth2 Client Credentials': [
    { name: 'token_url', label: 'Address of the token endpoint' },
    { name: 'client_id', label: 'Client id' },
    { name: 'client_secret', label: 'Client secret', secret: true },
    ...wishes,
  ],
  'OAuth2 Authorization Code': [
    { name: 'authorization_url', label: 'Address where you agree' },
    { name: 'token_url', label: 'Address of the token endpoint' },
    { name: 'client_id', label: 'Client id' },
    { name: 'client_secret', label: 'Client secret, if the client has one', secret: true },
    ...wishes,
    { name: 'refresh_token', label: 'Refresh token, instead of connecting', secret: true },
  ],
  'Login Request': [
    { name: 'token_url', label: 'Login URL' },
    { name: 'body', label: 'Credentials, one name=value a line, or JSON', lines: true },
    { name: 'body_type', label: 'Body type', choices: ['json', 'form'].map(asItIs) },
    { name: 'token_from', label: 'Token comes in', choices: tokenPlaces },
    { name: 'token_path', label: 'Token path, or name of the header or cookie' },
    { name: 'expires_path', label: 'Expiry path, if the response has one' },
    { name: 'expires_unit', label: 'Expiry unit', choices: ['seconds', 'milliseconds'].map(asItIs) },
    { name: 'lifetime_seconds', label: 'Lifetime in seconds, if known' },
    { name: 'in', label: 'Token is sent as', choices: ['header', 'cookie'].map(asItIs) },
    { name: 'key', label: 'Header or cookie name, if not Authorization' },
    { name: 'prefix', label: 'Prefix, if not Bearer' },
  ],
  'Digest Auth': [
    { name: 'username', label: 'User name' },
    { name: 'password', label: 'Password', secret: true },
  ],
  'Signed JWT': [
    { name: 'private_key', label: 'Private key (PEM)', secret: true, lines: true },
    {
      name: 'algorithm',
      label: 'Algorithm',
      choices: ['RS256', 'RS384', 'RS512', 'ES256', 'ES384', 'EdDSA'].map(asItIs),
    },
    { name: 'issuer', label: 'Issuer' },
    { name: 'subject', label: 'Subject, if any' },
    { name: 'audience', label: 'Audience, if any' },
    { name: 'key_id', label: 'Key id, if any' },
    { name: 'scope', label: 'Scope, if any' },
    { name: 'lifetime_seconds', label: 'Lifetime in seconds, if not 600' },
    { name: 'token_url', label: 'Address that exchanges it for a token, if any' },
  ],
  'AWS Signature': [
    { name: 'access_key_id', label: 'Access key id' },
    { name: 'secret_access_key', label: 'Secret access key', secret: true },
    { name: 'session_token', label: 'Session token, if any', secret: true },
    { name: 'region', label: 'Region' },
    { name: 'service', label: 'Service, such as execute-api' },
  ],
  HMAC: [
    { name: 'secret', label: 'Secret', secret: true },
    { name: 'secret_encoding', label: 'Secret is written as', choices: ['text', 'base64', 'hex'].map(asItIs) },
    { name: 'algorithm', label: 'Hash', choices: ['sha256', 'sha512', 'sha1'].map(asItIs) },
    { name: 'template', label: 'Signed text, such as {timestamp}{method}{path}{body}' },
    { name: 'encoding', label: 'Signature is written as', choices: ['hex', 'base64', 'base64url'].map(asItIs) },
    { name: 'header', label: 'Header of the signature' },
    { name: 'format', label: 'Its value, if not {signature}' },
    { name: 'timestamp', label: 'Time is written as', choices: ['unix', 'unix_ms', 'iso'].map(asItIs) },
    { name: 'timestamp_header', label: 'Header of the time, if any' },
    { name: 'nonce_header', label: 'Header of the nonce, if any' },
  ],
  'Client Certificate': [
    { name: 'certificate', label: 'Certificate (PEM)', lines: true },
    { name: 'private_key', label: 'Private key (PEM)', secret: true, lines: true },
    { name: 'passphrase', label: 'Passphrase, if any', secret: true },
  ],
}

const types = Object.keys(fields) as AuthType[]

type Props = {
  draft: Pick<Draft, 'authType' | 'auth'>
  /** The API whose authentication counts where there is none here. */
  api?: Api | undefined
  onChange: (part: Partial<Draft>) => void
  disabled: boolean
  /** Connects by an authorization code, and shows whether it is connected. */
  connect: ReactNode
}

export function AuthFields({ draft, api, onChange, disabled, connect }: Props) {
  const ofApi = api?.config['authType']
  const shared = draft.authType !== 'None' || api === undefined ? null : typeof ofApi === 'string' ? ofApi : 'None'
  const set = (name: string, value: string): void => onChange({ auth: { ...draft.auth, [name]: value } })
  return (
    <Stack gap="sm" maw="26rem">
      <Select
        label="Authentication"
        data={types}
        value={draft.authType}
        disabled={disabled}
        onChange={(type) => onChange({ authType: types.find((each) => each === type) ?? 'None', auth: {} })}
      />
      {fields[draft.authType].map(({ name, label, secret, choices, lines }) => {
        const common = { label, disabled, autoComplete: 'off', spellCheck: false, value: draft.auth[name] ?? '' }
        if (choices !== undefined) {
          return (
            <Select
              key={name}
              {...common}
              data={choices}
              value={draft.auth[name] ?? choices[0]?.value ?? null}
              allowDeselect={false}
              onChange={(value) => set(name, value ?? '')}
            />
          )
        }
        if (lines === true) {
          const change = (event: ChangeEvent<HTMLTextAreaElement>): void => set(name, event.currentTarget.value)
          const isHidden = secret === true && { styles: { input: { WebkitTextSecurity: 'disc' } } }
          return <Textarea key={name} {...common} {...isHidden} autosize minRows={1} maxRows={8} onChange={change} />
        }
        const Input = secret === true ? PasswordInput : TextInput
        return <Input key={name} {...common} onChange={(event) => set(name, event.currentTarget.value)} />
      })}
      {(shared ?? draft.authType) === 'OAuth2 Authorization Code' && connect}
      <Text size="xs" c="dimmed">
        {shared !== null
          ? `As the API ${api?.name ?? ''} says: ${shared}.`
          : draft.authType === 'None'
            ? 'Secrets are kept encrypted and never shown again.'
            : 'Kept encrypted. A stored secret reads *** and stays as it is while the address is the same.'}
      </Text>
    </Stack>
  )
}
