import { PasswordInput, Select, Stack, Text, TextInput } from '@mantine/core'
import type { AuthType } from '../wire.ts'
import type { Draft } from './draft.ts'

type Field = { name: string; label: string; secret?: boolean; choices?: string[] }

const fields: Record<AuthType, Field[]> = {
  None: [],
  'API Key': [
    { name: 'key', label: 'Name of the key' },
    { name: 'value', label: 'Value', secret: true },
    { name: 'in', label: 'Sent as', choices: ['header', 'query', 'cookie'] },
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
    { name: 'scope', label: 'Scope, if any' },
  ],
}

const types = Object.keys(fields) as AuthType[]

type Props = { draft: Draft; onChange: (part: Partial<Draft>) => void; disabled: boolean }

export function AuthFields({ draft, onChange, disabled }: Props) {
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
      {fields[draft.authType].map(({ name, label, secret, choices }) => {
        const common = { label, disabled, autoComplete: 'off', spellCheck: false, value: draft.auth[name] ?? '' }
        if (choices !== undefined) {
          return (
            <Select
              key={name}
              {...common}
              data={choices}
              value={draft.auth[name] ?? choices[0] ?? null}
              onChange={(value) => set(name, value ?? '')}
            />
          )
        }
        const Input = secret === true ? PasswordInput : TextInput
        return <Input key={name} {...common} onChange={(event) => set(name, event.currentTarget.value)} />
      })}
      <Text size="xs" c="dimmed">
        {draft.authType === 'None'
          ? 'Secrets are kept encrypted and never shown again.'
          : 'Kept encrypted. A stored secret reads *** and stays as it is while the address is the same.'}
      </Text>
    </Stack>
  )
}
