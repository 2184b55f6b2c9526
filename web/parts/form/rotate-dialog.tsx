import { Select, Text } from '@mantine/core'
import type { QueryKey } from '@tanstack/react-query'
import { useState } from 'react'
import { call } from '../../client/api.ts'
import { useAct } from '../../client/queries.ts'
import { ActForm } from './act-form.tsx'
import { SecretDialog } from './secret-dialog.tsx'

type Props = {
  /** Whose secret it is. */
  name: string
  /** The verb on the button, where the name is too long for it. */
  verb?: string
  /** Makes the new one. */
  path: string
  refresh: QueryKey[]
  /** The name of the secret. */
  label: string
  children: string
  /** The consequences for the old one, at once and after some time. */
  ended: string
  grace: (time: string) => string
  opened: boolean
  onClose: () => void
}

const graces = [
  { value: '86400', label: 'One day' },
  { value: '604800', label: 'One week' },
  { value: '3600', label: 'One hour' },
  { value: '0', label: 'Not at all: it ends at once' },
]

/** A new secret for something that keeps everything else, with a time in which the old one is good as well. */
export function RotateDialog({
  name,
  verb = `Rotate ${name}`,
  path,
  refresh,
  label,
  children,
  ended,
  grace,
  opened,
  onClose,
}: Props) {
  const [graceSeconds, setGraceSeconds] = useState('86400')
  const rotate = useAct(
    (seconds: number) => call<{ secret?: string }>('POST', path, { body: { grace_seconds: seconds } }),
    { refresh },
  )
  const close = (): void => {
    rotate.reset()
    onClose()
  }
  const time = graces.find(({ value }) => value === graceSeconds)?.label.toLowerCase() ?? ''
  return (
    <SecretDialog
      opened={opened}
      onClose={close}
      title={`Rotate ${name}`}
      secretTitle={`New secret of ${name}`}
      secret={rotate.data?.secret}
      label={label}
      about={graceSeconds === '0' ? ended : grace(time)}
    >
      <ActForm onSubmit={() => rotate.mutate(Number(graceSeconds))} act={rotate} verb={verb} onClose={close}>
        <Text>{children}</Text>
        <Select
          label="The old secret stays good for"
          data={graces}
          value={graceSeconds}
          onChange={(value) => setGraceSeconds(value ?? '86400')}
        />
      </ActForm>
    </SecretDialog>
  )
}
