import { Stack, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { call } from '../../api.ts'
import { Loaded } from '../../parts/loaded.tsx'
import { Moment } from '../../parts/time.tsx'
import type { Page } from '../../wire.ts'
import { PlainTable } from './metrics.tsx'
import type { AlertDelivery, AlertEvent } from './usage-wire.ts'

const refreshMs = 3_000

/** What it went through, and what was sent of it. */
export function AlertHistory({ path, projectId }: { path: string; projectId: string }) {
  const events = useQuery({
    queryKey: ['projects', projectId, 'deploy', 'alerts', path, 'history'],
    refetchInterval: refreshMs,
    queryFn: async ({ signal }) => (await call<Page<AlertEvent>>('GET', `${path}/history?limit=20`, { signal })).data,
  })
  const deliveries = useQuery({
    queryKey: ['projects', projectId, 'deploy', 'alerts', path, 'deliveries'],
    refetchInterval: refreshMs,
    queryFn: async ({ signal }) =>
      (await call<Page<AlertDelivery>>('GET', `${path}/deliveries?limit=20`, { signal })).data,
  })
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
