import { Anchor, Button, Group, Stack, Text, TextInput } from '@mantine/core'
import { useMutation } from '@tanstack/react-query'
import { useState } from 'react'
import { Link, useSearch } from 'wouter'
import { paths } from '../browser/paths.ts'
import { call } from '../client/api.ts'
import { fieldErrors } from '../client/refusals.ts'
import type { DecideDevice, WaitingDevice } from '../client/wire.ts'
import { Gate } from '../parts/shell/gate.tsx'
import { RefusalNotice } from '../parts/text/refusal.tsx'
import { useProgramPermission } from './program-permission.tsx'

/** Where a person types the code that a program without a browser shows. */
export function DevicePage() {
  const given = new URLSearchParams(useSearch()).get('code') ?? ''
  const [code, setCode] = useState(given)
  const [decided, setDecided] = useState<'allowed' | 'refused' | null>(null)
  const find = useMutation({
    mutationFn: () => call<WaitingDevice>('GET', `/v1/oauth/device?${new URLSearchParams({ user_code: code })}`),
  })
  if (decided !== null) {
    const title = decided === 'allowed' ? 'It is signed in' : 'It was refused'
    return (
      <Gate title={title} about="You can close this page.">
        <Anchor component={Link} href={paths.home}>
          Go to your projects
        </Anchor>
      </Gate>
    )
  }
  if (find.data !== undefined) {
    return (
      <Gate
        title={`Let ${find.data.client_name.replace(/^The /, 'the ')} in?`}
        about={`It asked from ${find.data.address} and shows ${code.toUpperCase()}. Refuse it if you did not ask for this.`}
      >
        <Decision code={code} onDecided={setDecided} />
      </Gate>
    )
  }
  return (
    <Gate title="Enter the code" about="The one that the program shows which you want to sign in.">
      <form
        onSubmit={(event) => {
          event.preventDefault()
          find.mutate()
        }}
      >
        <Stack gap="md">
          <TextInput
            label="Code"
            value={code}
            placeholder="XXXX-XXXX"
            maxLength={40}
            error={find.error === null ? undefined : fieldErrors(find.error)['user_code']}
            autoComplete="off"
            onChange={(event) => setCode(event.currentTarget.value)}
          />
          <RefusalNotice error={find.error} fields={['user_code']} />
          <Group justify="flex-end">
            <Button type="submit" loading={find.isPending} disabled={code.trim() === ''}>
              Continue
            </Button>
          </Group>
        </Stack>
      </form>
    </Gate>
  )
}

function Decision({ code, onDecided }: { code: string; onDecided: (decided: 'allowed' | 'refused') => void }) {
  const { permission, fields } = useProgramPermission()
  const decide = useMutation({
    mutationFn: (allow: boolean) => {
      const body: DecideDevice = { user_code: code, allow, ...permission }
      return call('POST', '/v1/oauth/device', { body })
    },
    onSuccess: (_answer, allow) => onDecided(allow ? 'allowed' : 'refused'),
  })
  return (
    <Stack gap="md">
      {fields}
      <RefusalNotice error={decide.error} />
      <Group justify="flex-end">
        <Button variant="default" onClick={() => decide.mutate(false)}>
          Refuse
        </Button>
        <Button loading={decide.isPending} onClick={() => decide.mutate(true)}>
          Let it in
        </Button>
      </Group>
      <Text size="sm" c="dimmed">
        Nobody who asks you for this code on the phone or by mail needs it.
      </Text>
    </Stack>
  )
}
