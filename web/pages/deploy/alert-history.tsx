import { Stack, Text } from '@mantine/core'
import { Loaded } from '../../parts/loaded.tsx'
import { Older } from '../../parts/more.tsx'
import { Moment } from '../../parts/time.tsx'
import { usePages } from '../../queries.ts'
import { PlainTable } from './plain-table.tsx'
import type { AlertDelivery, AlertEvent } from './usage-wire.ts'

const refreshMs = 3_000

/** What it went through, and what was sent of it. */
export function AlertHistory({ path, projectId }: { path: string; projectId: string }) {
  const key = ['projects', projectId, 'deploy', 'alerts', path]
  const events = usePages<AlertEvent>([...key, 'history'], `${path}/history?limit=20`, refreshMs)
  const deliveries = usePages<AlertDelivery>([...key, 'deliveries'], `${path}/deliveries?limit=20`, refreshMs)
  return (
    <Stack gap="sm" mt="sm">
      <Loaded query={events}>
        {(list) =>
          list.length === 0 ? (
            <Text c="dimmed">It has not fired yet.</Text>
          ) : (
            <PlainTable
              label="What happened"
              head={['When', 'What', 'Value']}
              rows={list.map(({ id, at, kind, value }) => [<Moment key={id} at={at} />, kinds[kind], sayValue(value)])}
            />
          )
        }
      </Loaded>
      <Older pages={events} what="events" />
      <Loaded query={deliveries}>
        {(list) =>
          list.length > 0 && (
            <PlainTable
              label="What was sent"
              head={['To', 'State', 'Answer']}
              rows={list.map(({ channel_type: type, target, status, response_status: answer, error }) => [
                `${type} ${target}`,
                states[status],
                error ?? (answer === null ? '' : String(answer)),
              ])}
            />
          )
        }
      </Loaded>
      <Older pages={deliveries} what="messages" />
    </Stack>
  )
}

const kinds: Record<AlertEvent['kind'], string> = {
  firing: 'Fired',
  resolved: 'Well again',
  reminder: 'Still firing',
  test: 'Test',
}

const states: Record<AlertDelivery['status'], string> = {
  pending: 'On its way',
  delivered: 'Delivered',
  failed: 'Failed',
}

function sayValue(value: number | null): string {
  return value === null ? '' : value.toLocaleString('en', { maximumFractionDigits: 3 })
}
