import { Badge, Button, Group, Modal, Space, Switch, Text } from '@mantine/core'
import { useQuery, useQueryClient, type UseMutationResult } from '@tanstack/react-query'
import { Bell, Plus } from 'lucide-react'
import { useState } from 'react'
import { call, callAll } from '../../../client/api.ts'
import { Confirm } from '../../../parts/form/confirm.tsx'
import { Empty } from '../../../parts/text/empty.tsx'
import { Heading } from '../../../parts/text/heading.tsx'
import { Loaded } from '../../../parts/text/loaded.tsx'
import { RefusalNotice } from '../../../parts/text/refusal.tsx'
import { RotateDialog } from '../../../parts/form/rotate-dialog.tsx'
import { Row, Rows } from '../../../parts/table/rows.tsx'
import { Ago, Moment } from '../../../parts/text/time.tsx'
import { Verdict } from '../../../parts/text/verdict.tsx'
import { useAct } from '../../../client/queries.ts'
import { alertsKey } from '../../../parts/shell/alert-bell.tsx'
import { useAddress } from '../../../parts/text/address.ts'
import { sayKind } from './alert-channels.tsx'
import { AlertDialog } from './alert-dialog.tsx'
import { AlertHistory } from './alert-history.tsx'
import { sayRule } from './alert-kinds.ts'
import type { Place } from '../../deploy/shared/place.ts'
import { SharedChannels } from './shared-channels.tsx'
import { SilenceDialog } from './silence-dialog.tsx'
import { Who } from '../../deploy/shared/who.tsx'
import type { Page } from '../../../client/wire.ts'
import type { Alert, AlertDelivery } from '../../deploy/shared/usage-wire.ts'
import { RowAct } from '../../../parts/table/row-act.tsx'

/** Alerts of the project, and whom they notify. */
export function AlertsPage({ place }: { place: Place }) {
  const { project, editor } = place
  const client = useQueryClient()
  const alerts = useQuery({
    queryKey: alertsKey(project.id),
    refetchInterval: 5_000,
    queryFn: ({ signal }) => {
      // Looking again must not interrupt someone who writes an alert.
      const again = client.getQueryData(alertsKey(project.id)) !== undefined
      return callAll<Alert>(`/v1/projects/${project.id}/alerts`, signal, again)
    },
  })
  const [creating, setCreating] = useState(false)
  const button = (
    <Button leftSection={<Plus size={16} aria-hidden />} onClick={() => setCreating(true)}>
      New alert
    </Button>
  )
  return (
    <>
      <Heading
        title="Alerts"
        within={project.name}
        action={editor && (alerts.data?.length ?? 0) > 0 ? button : undefined}
      >
        Notifications when something goes wrong, and when it is resolved.
        {!editor && ' You are a viewer here. Editors make and change them.'}
      </Heading>
      <Loaded query={alerts}>
        {(list) =>
          list.length === 0 ? (
            <Empty icon={<Bell size={20} />} action={editor && button} guide="metrics-and-alerts">
              Hear of trouble before your callers tell you: too many errors, slow answers, data that is late.
            </Empty>
          ) : (
            <Rows label="Alerts">
              {list.map((alert) => (
                <AlertRow key={alert.id} place={place} alert={alert} />
              ))}
            </Rows>
          )
        }
      </Loaded>
      <Space h="xl" />
      <SharedChannels place={place} />
      <AlertDialog place={place} alert={null} opened={creating} onClose={() => setCreating(false)} />
    </>
  )
}

function AlertRow({ place, alert }: { place: Place; alert: Alert }) {
  const { project } = place
  const path = `/v1/projects/${project.id}/alerts/${alert.id}`
  const refresh = [alertsKey(project.id)]
  // A mark on a time line leads here: the history of its alert stands open.
  const { asked, choose } = useAddress()
  const open = asked.get('alert') === alert.id
  const test = useAct(() => sendTest(path), { refresh })
  const change = useAct((enabled: boolean) => call<Alert>('PATCH', path, { body: { enabled } }), {
    refresh,
    say: ({ name, enabled }) => `${name} is ${enabled ? 'on' : 'off'}.`,
  })
  const unsilence = useAct(() => call<Alert>('DELETE', `${path}/silence`), {
    refresh,
    say: ({ name }) => `${name} tells again.`,
  })
  return (
    <Row
      end={
        <>
          <State alert={alert} />
          <AlertActs
            place={place}
            alert={alert}
            test={test}
            change={change}
            unsilence={unsilence}
            onHistory={() => choose({ alert: alert.id })}
          />
        </>
      }
    >
      <Text fw={500}>{alert.name}</Text>
      <Text size="xs">{sayRule(alert)}</Text>
      {alert.silenced !== null && (
        <Text size="xs">
          Silenced until <Moment at={alert.silenced.until} /> by <Who place={place} label={alert.silenced.by} />
          {alert.silenced.reason !== '' && `: ${alert.silenced.reason}`}
        </Text>
      )}
      {alert.channels.length === 0 && (
        <Text size="xs" c="dimmed">
          tells no one
        </Text>
      )}
      {alert.channels.map((channel) => (
        <ChannelLine key={channel.id} place={place} alert={alert} channel={channel} />
      ))}
      {test.data !== undefined && <TestResult name={alert.name} deliveries={test.data} />}
      <RefusalNotice error={test.error ?? change.error ?? unsilence.error} />
      <Modal opened={open} onClose={() => choose({ alert: '' })} title={`History of ${alert.name}`} size="lg">
        <AlertHistory path={path} alert={alert} />
      </Modal>
    </Row>
  )
}

type ActsProps = {
  place: Place
  alert: Alert
  test: UseMutationResult<AlertDelivery[], Error, void>
  change: UseMutationResult<Alert, Error, boolean>
  unsilence: UseMutationResult<Alert, Error, void>
  onHistory: () => void
}

function AlertActs({ place, alert, test, change, unsilence, onHistory }: ActsProps) {
  const { project, editor } = place
  const [opened, setOpened] = useState<'delete' | 'silence' | 'edit' | null>(null)
  const close = (): void => setOpened(null)
  const remove = useAct(() => call<undefined>('DELETE', `/v1/projects/${project.id}/alerts/${alert.id}`), {
    refresh: [alertsKey(project.id)],
    say: () => `${alert.name} is deleted.`,
  })
  return (
    <>
      <Group gap={4}>
        <RowAct label={`History of ${alert.name}`} onClick={onHistory}>
          History
        </RowAct>
        {editor && (
          <>
            <RowAct label={`Edit ${alert.name}`} onClick={() => setOpened('edit')}>
              Edit
            </RowAct>
            <RowAct
              label={`${alert.silenced === null ? 'Silence' : 'End silence of'} ${alert.name}`}
              loading={unsilence.isPending}
              onClick={() => (alert.silenced === null ? setOpened('silence') : unsilence.mutate())}
            >
              {alert.silenced === null ? 'Silence' : 'End silence'}
            </RowAct>
            <RowAct
              label={`Send a test of ${alert.name}`}
              disabled={alert.channels.length === 0}
              loading={test.isPending}
              onClick={() => test.mutate()}
            >
              Test
            </RowAct>
            <RowAct label={`Delete ${alert.name}`} onClick={() => setOpened('delete')}>
              Delete
            </RowAct>
            <Switch
              aria-label={`${alert.name} is on`}
              checked={alert.enabled}
              onChange={(event) => change.mutate(event.currentTarget.checked)}
            />
          </>
        )}
      </Group>
      <SilenceDialog place={place} alert={alert} opened={opened === 'silence'} onClose={close} />
      <AlertDialog place={place} alert={alert} opened={opened === 'edit'} onClose={close} />
      <Confirm
        opened={opened === 'delete'}
        onClose={close}
        title={`Delete ${alert.name}`}
        verb={`Delete ${alert.name}`}
        act={remove}
      >
        No one is told any more, and its history is gone.
        {alert.state === 'firing' && ' It fires now: its channels are told that this is over.'}
      </Confirm>
    </>
  )
}

/** The result of a test, polled while the channels take it; so often and so long at most. */
const looks = 12
const lookMs = 500

async function sendTest(path: string): Promise<AlertDelivery[]> {
  const { delivery_ids: ids } = await call<{ delivery_ids: string[] }>('POST', `${path}/test`)
  let found: AlertDelivery[] = []
  for (let look = 0; look < looks; look += 1) {
    const page = await call<Page<AlertDelivery>>('GET', `${path}/deliveries?limit=50`)
    found = page.data.filter(({ id }) => ids.includes(id))
    if (found.length === ids.length && found.every(isKnown)) break
    await new Promise((resolve) => setTimeout(resolve, lookMs))
  }
  return found
}

/** Delivered, given up, or refused once and to be tried again. */
function isKnown({ status, attempt, error, response_status: answer }: AlertDelivery): boolean {
  return status !== 'pending' || (attempt > 0 && (error !== null || answer !== null))
}

function TestResult({ name, deliveries }: { name: string; deliveries: AlertDelivery[] }) {
  const failed = deliveries.filter((each) => isKnown(each) && each.status !== 'delivered')
  const open = deliveries.filter((each) => !isKnown(each))
  const says =
    failed.length > 0
      ? `The test of ${name} was not delivered.`
      : open.length > 0
        ? `The test of ${name} is still on its way. Its history says what becomes of it.`
        : `The test of ${name} was delivered.`
  return (
    <Verdict says={says} mood={failed.length > 0 ? 'bad' : open.length > 0 ? 'plain' : 'good'}>
      {failed.map(({ id, channel_type: type, target, error, response_status: answer, status }) => (
        <Text key={id} size="sm">
          {sayKind(type)} {target}: {error ?? `it answered with ${answer}`}
          {status === 'pending' && '; it is tried again'}
        </Text>
      ))}
    </Verdict>
  )
}

type Channel = Alert['channels'][number]

/** Whom it tells. A webhook's secret can be replaced, as when someone leaves who knew it. */
function ChannelLine({ place, alert, channel }: { place: Place; alert: Alert; channel: Channel }) {
  const [rotating, setRotating] = useState(false)
  const { type, target, id, shared } = channel
  return (
    <Text component="div" size="xs" c="dimmed">
      tells {shared === null ? `${sayKind(type)} ${target}` : `${shared.name} (${target})`}
      {type === 'webhook' && shared === null && place.editor && (
        <>
          <Button
            variant="subtle"
            size="compact-xs"
            ml={4}
            onClick={() => setRotating(true)}
            aria-label={`Rotate secret of ${target}`}
          >
            Rotate secret
          </Button>
          <RotateDialog
            name={`the webhook of ${alert.name}`}
            verb="Rotate secret"
            path={`/v1/projects/${place.project.id}/alerts/${alert.id}/channels/${id}/rotate`}
            refresh={[]}
            label="Webhook secret"
            ended="Messages are signed with this one alone from now on."
            grace={(time) => `Put it where you check signatures. For ${time} messages carry both signatures.`}
            opened={rotating}
            onClose={() => setRotating(false)}
          >
            {`Messages to ${target} are signed with a new secret; the alert keeps everything else.`}
          </RotateDialog>
        </>
      )}
    </Text>
  )
}

function State({ alert: { state, enabled, silenced, started_at: since } }: { alert: Alert }) {
  const firing = state === 'firing' && enabled
  return (
    <Badge
      miw="max-content"
      variant="light"
      tt="none"
      radius="sm"
      color={!enabled || silenced !== null ? 'gray' : firing ? 'red' : 'green'}
      c="var(--mantine-color-text)"
    >
      {!enabled ? (
        'Off'
      ) : firing ? (
        <>
          Firing
          {since !== null && (
            <>
              , began <Ago at={since} />
            </>
          )}
        </>
      ) : (
        'All well'
      )}
      {enabled && silenced !== null && ', silenced'}
    </Badge>
  )
}
