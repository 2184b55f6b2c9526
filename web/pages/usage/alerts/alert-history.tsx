import { Stack, Text, Title } from '@mantine/core'
import { Loaded } from '../../../parts/text/loaded.tsx'
import { Older } from '../../../parts/table/more.tsx'
import { Moment } from '../../../parts/text/time.tsx'
import { usePages } from '../../../client/queries.ts'
import { PlainTable } from '../../../parts/table/list.tsx'
import { sayKind } from './alert-channels.tsx'
import { sayMeasured } from './alert-kinds.ts'
import type { Alert, AlertDelivery, AlertEvent } from '../../deploy/shared/usage-wire.ts'

const refreshMs = 3_000

/** The states of an alert, and the messages sent about them. */
export function AlertHistory({ path, alert }: { path: string; alert: Alert }) {
  const key = ['projects', alert.project_id, 'deploy', 'alerts', path]
  const events = usePages<AlertEvent>([...key, 'history'], `${path}/history?limit=20`, refreshMs)
  const deliveries = usePages<AlertDelivery>([...key, 'deliveries'], `${path}/deliveries?limit=20`, refreshMs)
  return (
    <Stack gap="sm">
      <Title order={3}>What happened</Title>
      <Loaded query={events}>
        {(list) =>
          list.length === 0 ? (
            <Text c="dimmed">It has not fired yet.</Text>
          ) : (
            <PlainTable
              label="What happened"
              head={['When', 'What', 'Value']}
              rows={list.map(({ id, at, kind, value, silenced }) => [
                <Moment key={id} at={at} />,
                `${kinds[kind]}${silenced ? ', told nobody' : ''}`,
                sayMeasured(alert.type, value),
              ])}
            />
          )
        }
      </Loaded>
      <Older pages={events} what="events" />
      <Loaded query={deliveries}>
        {(list) =>
          list.length > 0 && (
            <>
              <Title order={3} mt="sm">
                What was sent
              </Title>
              <PlainTable
                label="What was sent"
                head={['When', 'To', 'State', 'Answer']}
                whole="To"
                rows={list.map(
                  ({ id, created_at: at, channel_type: type, target, status, response_status: answer, error }) => [
                    <Moment key={id} at={at} />,
                    `${sayKind(type)} ${target}`,
                    states[status],
                    error ?? (answer === null ? '' : String(answer)),
                  ],
                )}
              />
            </>
          )
        }
      </Loaded>
      <Older pages={deliveries} what="messages" />
    </Stack>
  )
}

const kinds: Record<AlertEvent['kind'], string> = {
  firing: 'Fired',
  resolved: 'Resolved',
  reminder: 'Still firing',
  test: 'Test',
}

const states: Record<AlertDelivery['status'], string> = {
  pending: 'On its way',
  delivered: 'Delivered',
  failed: 'Failed',
}
