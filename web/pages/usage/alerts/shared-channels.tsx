import { Button, Group, Select, Text, TextInput } from '@mantine/core'
import { Plus } from 'lucide-react'
import { useState } from 'react'
import { call } from '../../../client/api.ts'
import { Card } from '../../../parts/text/card.tsx'
import { Confirm } from '../../../parts/form/confirm.tsx'
import { ActForm } from '../../../parts/form/act-form.tsx'
import { Loaded } from '../../../parts/text/loaded.tsx'
import { RefusalNotice } from '../../../parts/text/refusal.tsx'
import { RotateDialog } from '../../../parts/form/rotate-dialog.tsx'
import { Row, Rows } from '../../../parts/table/rows.tsx'
import { SecretDialog } from '../../../parts/form/secret-dialog.tsx'
import { Ago } from '../../../parts/text/time.tsx'
import { useAct } from '../../../client/queries.ts'
import { fieldErrors } from '../../../client/refusals.ts'
import { channelKinds, kindNamed, newChannelOf, sayKind, type ChannelKind } from './alert-channels.tsx'
import type { Place } from '../../deploy/shared/place.ts'
import { channelsKey, channelsPath, useSharedChannels } from './shared-channel-queries.ts'
import type { SharedChannel } from '../../deploy/shared/usage-wire.ts'
import { RowAct } from '../../../parts/table/row-act.tsx'

/** Ways to tell people that are set up and tested once, for any alert. */
export function SharedChannels({ place }: { place: Place }) {
  const { project, editor } = place
  const channels = useSharedChannels(project.id)
  const [changing, setChanging] = useState<SharedChannel | 'new' | null>(null)
  return (
    <Card title="Channels" about="Set up and tested once, for any alert of the project.">
      <Loaded query={channels}>
        {(list) =>
          list.length === 0 ? (
            <Text c="dimmed">
              None yet. A channel of the project has its address in one place, whatever the number of alerts.
            </Text>
          ) : (
            <Rows label="Channels">
              {list.map((channel) => (
                <ChannelRow key={channel.id} place={place} channel={channel} onChange={() => setChanging(channel)} />
              ))}
            </Rows>
          )
        }
      </Loaded>
      {editor && (
        <Group>
          <Button
            variant="default"
            size="xs"
            leftSection={<Plus size={14} aria-hidden />}
            onClick={() => setChanging('new')}
          >
            New channel
          </Button>
        </Group>
      )}
      <ChannelDialog
        key={changing === null || changing === 'new' ? 'new' : changing.id}
        place={place}
        channel={changing === 'new' ? null : changing}
        opened={changing !== null}
        onClose={() => setChanging(null)}
      />
    </Card>
  )
}

function ChannelRow({ place, channel, onChange }: { place: Place; channel: SharedChannel; onChange: () => void }) {
  const { id, name, type, target, alerts } = channel
  const path = `${channelsPath(place.project.id)}/${id}`
  const refresh = [channelsKey(place.project.id)]
  const [asking, setAsking] = useState<'delete' | 'rotate' | null>(null)
  const test = useAct(() => call<SharedChannel>('POST', `${path}/test`), {
    refresh,
    say: ({ test_error: error }) =>
      error === null ? `The test of ${name} was delivered.` : `The test of ${name} failed.`,
  })
  const remove = useAct(() => call<undefined>('DELETE', path), { refresh, say: () => `${name} is deleted.` })
  const close = (): void => setAsking(null)
  return (
    <Row
      end={
        place.editor && (
          <Group gap={4}>
            <RowAct label={`Send a test through ${name}`} loading={test.isPending} onClick={() => test.mutate()}>
              Test
            </RowAct>
            <RowAct label={`Edit ${name}`} onClick={onChange}>
              Edit
            </RowAct>
            {type === 'webhook' && (
              <RowAct label={`Rotate secret of ${name}`} onClick={() => setAsking('rotate')}>
                Rotate secret
              </RowAct>
            )}
            <RowAct label={`Delete ${name}`} onClick={() => setAsking('delete')}>
              Delete
            </RowAct>
          </Group>
        )
      }
    >
      <ChannelFacts channel={channel} />
      <RefusalNotice error={test.error} />
      <Confirm
        opened={asking === 'delete'}
        onClose={close}
        title={`Delete ${name}`}
        verb={`Delete ${name}`}
        act={remove}
      >
        {alerts.length === 0
          ? 'No alert uses it.'
          : `It is used by ${alerts.map((alert) => alert.name).join(', ')}: take it out of them first.`}
      </Confirm>
      <RotateDialog
        name={name}
        verb="Rotate secret"
        path={`${path}/rotate`}
        refresh={[]}
        label="Webhook secret"
        ended="Messages are signed with this one alone from now on."
        grace={(time) => `Put it where you check signatures. For ${time} messages carry both signatures.`}
        opened={asking === 'rotate'}
        onClose={close}
      >
        {`Messages to ${target} are signed with a new secret; alerts that use the channel keep it.`}
      </RotateDialog>
    </Row>
  )
}

function ChannelFacts({ channel }: { channel: SharedChannel }) {
  const { name, type, target, alerts, tested_at: testedAt, test_error: failed } = channel
  return (
    <>
      <Text fw={500}>{name}</Text>
      <Text size="xs">
        {sayKind(type)} {target}
      </Text>
      <Text size="xs" c="dimmed">
        {alerts.length === 0 ? 'used by no alert' : `used by ${alerts.map((alert) => alert.name).join(', ')}`}
        {testedAt !== null && (
          <>
            {' · '}
            {failed === null ? 'test arrived ' : 'test failed '}
            <Ago at={testedAt} />
          </>
        )}
      </Text>
      {failed !== null && (
        <Text size="xs" c="var(--sluice-danger)">
          {failed}
        </Text>
      )}
    </>
  )
}

type DialogProps = { place: Place; channel: SharedChannel | null; opened: boolean; onClose: () => void }
type Values = { name: string; type: ChannelKind; target: string }

/** A name and an address; for a new webhook then the secret that signs its messages. */
function ChannelDialog({ place, channel, opened, onClose }: DialogProps) {
  const path = channelsPath(place.project.id)
  const save = useAct(
    ({ name, type, target }: Values) => {
      // An existing channel keeps its address unless another is typed: it is not shown whole.
      const address = target.trim() === '' ? undefined : newChannelOf({ type, target })
      const body = { name, ...(address !== undefined && { channel: address }) }
      return channel === null
        ? call<SharedChannel>('POST', path, { body })
        : call<SharedChannel>('PATCH', `${path}/${channel.id}`, { body })
    },
    {
      refresh: [channelsKey(place.project.id), ['projects', place.project.id, 'deploy', 'alerts']],
      say: ({ name }) => (channel === null ? `${name} can be used by any alert.` : `${name} is changed.`),
    },
  )
  const close = (): void => {
    save.reset()
    onClose()
  }
  return (
    <SecretDialog
      opened={opened}
      onClose={close}
      title={channel === null ? 'New channel' : `Edit ${channel.name}`}
      secretTitle={`Secret of ${save.data?.name}`}
      secret={save.data?.secret}
      label="Webhook secret"
      about={`Messages to ${save.data?.target} are signed with it, after the Standard Webhooks: check the signature where you receive them.`}
    >
      <ChannelForm
        channel={channel}
        save={save}
        onDone={(made) => {
          if (made.secret === undefined) close()
        }}
        onClose={close}
      />
    </SecretDialog>
  )
}

type FormProps = {
  channel: SharedChannel | null
  save: ReturnType<typeof useAct<SharedChannel, Values>>
  onDone: (made: SharedChannel) => void
  onClose: () => void
}

function ChannelForm({ channel, save, onDone, onClose }: FormProps) {
  const [values, setValues] = useState<Values>({
    name: channel?.name ?? '',
    type: channel?.type ?? 'webhook',
    target: '',
  })
  const errors = save.error === null ? {} : fieldErrors(save.error)
  const wrong = Object.entries(errors).find(([field]) => field.startsWith('channel'))?.[1]
  const isReady = values.name.trim() !== '' && (channel !== null || values.target.trim() !== '')
  return (
    <ActForm
      onSubmit={() => {
        if (isReady) save.mutate(values, { onSuccess: onDone })
      }}
      act={save}
      fields={Object.keys(errors)}
      verb={channel === null ? 'Create channel' : 'Save changes'}
      disabled={!isReady}
      onClose={onClose}
    >
      <TextInput
        label="Name"
        placeholder="On call"
        data-autofocus
        value={values.name}
        onChange={(event) => setValues({ ...values, name: event.currentTarget.value })}
        error={errors['name']}
      />
      <Select
        label="Kind"
        data={channelKinds}
        value={values.type}
        onChange={(type) => setValues({ ...values, type: kindNamed(type) })}
      />
      <TextInput
        label="Address"
        placeholder={channel?.target ?? (values.type === 'email' ? 'team@example.org' : 'https://…')}
        {...(channel !== null && { description: 'Left empty, it stays as it is.' })}
        value={values.target}
        onChange={(event) => setValues({ ...values, target: event.currentTarget.value })}
        error={wrong}
      />
    </ActForm>
  )
}
