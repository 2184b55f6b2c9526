import { Modal, Select, Text, TextInput } from '@mantine/core'
import { useState } from 'react'
import { call } from '../../../client/api.ts'
import { alertsKey } from '../../../parts/shell/alert-bell.tsx'
import { ActForm } from '../../../parts/form/act-form.tsx'
import { useAct } from '../../../client/queries.ts'
import type { Place } from '../../deploy/shared/place.ts'
import type { Alert } from '../../deploy/shared/usage-wire.ts'

const lengths = [
  { value: '60', label: 'For an hour' },
  { value: '240', label: 'For 4 hours' },
  { value: '1440', label: 'For a day' },
  { value: '10080', label: 'For a week' },
  { value: 'until', label: 'Until …' },
]

type Props = { place: Place; alert: Alert; opened: boolean; onClose: () => void }

/** For some time nobody is told; everyone sees until when, by whom and why. */
export function SilenceDialog({ opened, onClose, ...rest }: Props) {
  return (
    <Modal opened={opened} onClose={onClose} title={`Silence ${rest.alert.name}`}>
      <SilenceForm {...rest} onClose={onClose} />
    </Modal>
  )
}

function SilenceForm({ place, alert, onClose }: Omit<Props, 'opened'>) {
  const [length, setLength] = useState('60')
  const [until, setUntil] = useState('')
  const [reason, setReason] = useState('')
  const silence = useAct(
    () => {
      const time = length === 'until' ? { until: new Date(until).toISOString() } : { minutes: Number(length) }
      const path = `/v1/projects/${place.project.id}/alerts/${alert.id}/silence`
      return call<Alert>('POST', path, { body: { ...time, reason } })
    },
    { refresh: [alertsKey(place.project.id)], say: ({ name }) => `${name} tells nobody for now.` },
  )
  const isReady = length !== 'until' || !Number.isNaN(Date.parse(until))
  return (
    <ActForm
      onSubmit={() => {
        if (isReady) silence.mutate(undefined, { onSuccess: onClose })
      }}
      act={silence}
      verb="Silence"
      disabled={!isReady}
      onClose={onClose}
    >
      <Text>It is watched on, and its history says what it would have told. What still fires then is told.</Text>
      <Select label="How long" data={lengths} value={length} onChange={(value) => setLength(value ?? '60')} />
      {length === 'until' && (
        <TextInput
          type="datetime-local"
          label="Until"
          value={until}
          onChange={(event) => setUntil(event.currentTarget.value)}
        />
      )}
      <TextInput
        label="Why"
        spellCheck
        placeholder="We move the database tonight."
        data-autofocus
        maxLength={500}
        value={reason}
        onChange={(event) => setReason(event.currentTarget.value)}
      />
    </ActForm>
  )
}
