import { useState } from 'react'
import { call } from '../../../client/api.ts'
import { SecretDialog } from '../../../parts/form/secret-dialog.tsx'
import { useAct } from '../../../client/queries.ts'
import { AlertForm } from './alert-form.tsx'
import { alertChangesOf, alertValuesOf, firstAlert, newAlertOf, type AlertValues } from './alert-values.ts'
import type { Place } from '../../deploy/shared/place.ts'
import { channelsKey } from './shared-channel-queries.ts'
import type { Alert } from '../../deploy/shared/usage-wire.ts'

type Props = {
  place: Place
  /** The one that is changed; null for a new one. */
  alert: Alert | null
  opened: boolean
  onClose: () => void
}

/** First a template, which fills in the rest; for each new webhook then the secret that signs its messages. */
export function AlertDialog({ place, alert, opened, onClose }: Props) {
  const path = `/v1/projects/${place.project.id}/alerts`
  const [stored, setStored] = useState(0)
  const act = useAct(
    (values: AlertValues) =>
      alert === null
        ? call<Alert>('POST', path, { body: newAlertOf(values) })
        : call<Alert>('PATCH', `${path}/${alert.id}`, { body: alertChangesOf(values) }),
    {
      refresh: [['projects', place.project.id, 'deploy', 'alerts'], channelsKey(place.project.id)],
      say: ({ name }) => (alert === null ? `Alert created: ${name}.` : `Alert changed: ${name}.`),
    },
  )
  const signed = (act.data?.channels ?? []).filter(({ secret }) => secret !== undefined)
  const shown = signed[stored]
  const close = (): void => {
    act.reset()
    setStored(0)
    onClose()
  }
  return (
    <SecretDialog
      opened={opened}
      onClose={close}
      size="34rem"
      title={alert === null ? 'New alert' : `Edit ${alert.name}`}
      secretTitle={`Secret of ${act.data?.name}`}
      secret={shown?.secret}
      label="Webhook secret"
      about={`Messages to ${shown?.target} are signed with it, after the Standard Webhooks: check the signature where you receive them.`}
      onStored={() => (stored + 1 < signed.length ? setStored(stored + 1) : close())}
    >
      <AlertForm
        place={place}
        initial={alert === null ? firstAlert(place.environment) : alertValuesOf(alert)}
        verb={alert === null ? 'Create alert' : 'Save changes'}
        act={act}
        onDone={(made) => {
          if (made.channels.every(({ secret }) => secret === undefined)) close()
        }}
        onClose={close}
      />
    </SecretDialog>
  )
}
