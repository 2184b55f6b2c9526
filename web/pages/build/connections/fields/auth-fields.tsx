import { PasswordInput, Select, Stack, Text, Textarea, TextInput } from '@mantine/core'
import type { ChangeEvent, ReactNode } from 'react'
import type { AuthType } from '../../shared/wire.ts'
import type { Draft } from './draft.ts'

type Field = {
  name: string
  label: string
  secret?: boolean
  choices?: Array<{ value: string; label: string }>
  /** `name=value`, one a line. */
  lines?: boolean
}

const asItIs = (value: string) => ({ value, label: value })
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
}

const types = Object.keys(fields) as AuthType[]

type Props = {
  draft: Draft
  onChange: (part: Partial<Draft>) => void
  disabled: boolean
  /** What connects by an authorization code, and shows whether it is connected. */
  connect: ReactNode
}

export function AuthFields({ draft, onChange, disabled, connect }: Props) {
  const set = (name: string, value: string): void => onChange({ auth: { ...draft.auth, [name]: value } })
  return (
    <Stack gap="sm" maw="26rem">
      <Select
        label="How it asks who you are"
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
          return <Textarea key={name} {...common} autosize minRows={1} maxRows={8} onChange={change} />
        }
        const Input = secret === true ? PasswordInput : TextInput
        return <Input key={name} {...common} onChange={(event) => set(name, event.currentTarget.value)} />
      })}
      {draft.authType === 'OAuth2 Authorization Code' && connect}
      <Text size="xs" c="dimmed">
        {draft.authType === 'None'
          ? 'Secrets are kept encrypted and never shown again.'
          : 'Kept encrypted. A stored secret reads *** and stays as it is while the address is the same.'}
      </Text>
    </Stack>
  )
}
