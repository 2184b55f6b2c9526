import { Button, Group, Modal, NumberInput, Select, Stack, TextInput } from '@mantine/core'
import { useForm } from '@mantine/form'
import { call } from '../../api.ts'
import { RefusalNotice } from '../../parts/refusal.tsx'
import { SecretBox } from '../../parts/secret-box.tsx'
import { useAct } from '../../queries.ts'
import { fieldErrors } from '../../refusals.ts'
import { alertChoices, kindOf } from './alert-kinds.ts'
import type { Place } from './place.ts'
import { useDeployments } from './queries.ts'
import type { Alert, AlertType, NewAlert } from './usage-wire.ts'

type Props = { place: Place; opened: boolean; onClose: () => void }
type Channel = 'webhook' | 'slack' | 'email'

const channels = [
  { value: 'email', label: 'E-mail' },
  { value: 'slack', label: 'Slack' },
  { value: 'webhook', label: 'Webhook' },
]

/** First a template, which fills in the rest; for a webhook then the secret that signs its messages. */
export function NewAlertDialog({ place, opened, onClose }: Props) {
  const path = `/v1/projects/${place.project.id}/alerts`
  const create = useAct((body: NewAlert) => call<Alert>('POST', path, { body }), {
    refresh: [['projects', place.project.id, 'deploy', 'alerts']],
    say: ({ name }) => `${name} keeps watch.`,
  })
  const secret = create.data?.channels.find((channel) => channel.secret !== undefined)?.secret
  const close = (): void => {
    create.reset()
    onClose()
  }
  const unread = secret === undefined
  return (
    <Modal
      opened={opened}
      onClose={close}
      title={unread ? 'New alert' : `Secret of ${create.data?.name}`}
      closeOnClickOutside={unread}
      closeOnEscape={unread}
      withCloseButton={unread}
    >
      {secret === undefined ? (
        <NewAlertForm place={place} create={create} onClose={close} />
      ) : (
        <SecretBox label="Webhook secret" secret={secret} onStored={close}>
          Messages are signed with it, after the Standard Webhooks: check the signature where you receive them.
        </SecretBox>
      )}
    </Modal>
  )
}

type Create = ReturnType<typeof useAct<Alert, NewAlert>>
type Values = {
  type: AlertType
  name: string
  threshold: number | string
  windowMinutes: number | string
  query: string
  channel: Channel
  target: string
}

function NewAlertForm({ place, create, onClose }: { place: Place; create: Create; onClose: () => void }) {
  const { project, environment } = place
  const deployments = useDeployments(project.id)
  const first = kindOf('error_rate_above')
  const form = useForm<Values>({
    initialValues: {
      type: first.type,
      name: first.name,
      threshold: first.threshold ?? '',
      windowMinutes: 5,
      query: '',
      channel: 'email',
      target: '',
    },
    validate: {
      name: (name) => (name.trim() === '' ? 'Give it a name.' : null),
      target: (target) => (target.trim() === '' ? 'Say where to tell it.' : null),
    },
  })
  const kind = kindOf(form.values.type)
  const here = (deployments.data ?? []).filter((each) => each.environment === environment)
  const submit = (values: Values): void =>
    create.mutate(bodyOf(values, environment), {
      onSuccess: (made) => {
        if (made.channels.every(({ secret }) => secret === undefined)) onClose()
      },
      onError: (error) => form.setErrors(fieldErrors(error)),
    })
  return (
    <form noValidate onSubmit={form.onSubmit(submit)}>
      <Stack gap="md">
        <Select
          label="Tell me when"
          data={alertChoices}
          value={form.values.type}
          onChange={(type) => {
            const chosen = kindOf(type ?? '')
            form.setValues({ type: chosen.type, name: chosen.name, threshold: chosen.threshold ?? '' })
          }}
        />
        <TextInput label="Name" autoComplete="off" {...form.getInputProps('name')} />
        {kind.unit !== null && (
          <Group grow align="flex-start">
            <NumberInput
              label={form.values.type === 'requests_below' ? 'Below' : 'Above'}
              description={kind.unit}
              min={0}
              {...form.getInputProps('threshold')}
            />
            <NumberInput
              label="Within"
              description="minutes"
              min={1}
              max={10_080}
              {...form.getInputProps('windowMinutes')}
            />
          </Group>
        )}
        {kind.scoped && (
          <Select
            label={`Of what in ${environment}`}
            data={[{ value: '', label: 'Every query' }, ...here.map(({ name }) => name)]}
            {...form.getInputProps('query')}
          />
        )}
        <Group grow align="flex-start">
          <Select label="By" data={channels} {...form.getInputProps('channel')} />
          <TextInput
            label={form.values.channel === 'email' ? 'Address' : 'URL'}
            placeholder={form.values.channel === 'email' ? 'team@example.org' : 'https://…'}
            autoComplete="off"
            {...form.getInputProps('target')}
          />
        </Group>
        <RefusalNotice error={create.error} fields={['name', 'threshold']} />
        <Group justify="flex-end" gap="sm">
          <Button variant="default" onClick={onClose}>
            Cancel
          </Button>
          <Button type="submit" loading={create.isPending}>
            Create alert
          </Button>
        </Group>
      </Stack>
    </form>
  )
}

function bodyOf(
  { type, name, threshold, windowMinutes, query, channel, target }: Values,
  environment: string,
): NewAlert {
  const kind = kindOf(type)
  const to = target.trim()
  return {
    name,
    type,
    ...(kind.unit !== null && { threshold: Number(threshold) * kind.factor, window_minutes: Number(windowMinutes) }),
    ...(kind.scoped && { environment, query: query === '' ? null : query }),
    channels: [channel === 'email' ? { type: channel, to } : { type: channel, url: to }],
  }
}
