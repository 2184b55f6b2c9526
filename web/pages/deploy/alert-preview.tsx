import { Button, Group, List, Stack, Text } from '@mantine/core'
import { History } from 'lucide-react'
import { call } from '../../api.ts'
import { RefusalNotice } from '../../parts/refusal.tsx'
import { Moment } from '../../parts/time.tsx'
import { Verdict } from '../../parts/verdict.tsx'
import { useAct } from '../../queries.ts'
import { sayCount } from '../../words.ts'
import { sayMeasured } from './alert-kinds.ts'
import { previewOf, type AlertValues } from './alert-values.ts'
import type { Place } from './place.ts'
import type { AlertPreview as Preview } from './usage-wire.ts'

const maxShown = 8
const days = 7

/** When it would have fired, before it is saved: a limit that fires every hour is nobody's help. */
export function AlertPreview({ place, values }: { place: Place; values: AlertValues }) {
  const { type } = values
  const tried = useAct(
    async (asked: AlertValues) => {
      const body = { ...previewOf(asked), days }
      return { of: JSON.stringify(previewOf(asked)), found: await call<Preview>('POST', pathOf(place), { body }) }
    },
    { refresh: [] },
  )
  // What was found holds for the rules that were tried.
  const found = tried.data?.of === JSON.stringify(previewOf(values)) ? tried.data.found : undefined
  return (
    <Stack gap="xs">
      <Group>
        <Button
          variant="default"
          size="xs"
          leftSection={<History size={14} aria-hidden />}
          loading={tried.isPending}
          onClick={() => tried.mutate(values)}
        >
          Try it on the last {days} days
        </Button>
      </Group>
      <RefusalNotice error={tried.error} />
      {found !== undefined && (
        <Verdict says={sayFound(found)} bad={false}>
          {found.firings.length > 0 && (
            <List size="sm" aria-label="When it would have fired">
              {found.firings.slice(0, maxShown).map(({ started_at: from, ended_at: to, worst }) => (
                <List.Item key={from}>
                  <Moment at={from} />
                  {to === null ? ', and still' : `, for ${sayLength(from, to)}`}
                  <Text component="span" c="dimmed">
                    {' '}
                    ({sayMeasured(type, worst)})
                  </Text>
                </List.Item>
              ))}
            </List>
          )}
          {found.fired > maxShown && <Text size="sm">and {sayCount(found.fired - maxShown, 'time')} before.</Text>}
        </Verdict>
      )}
    </Stack>
  )
}

function pathOf({ project }: Place): string {
  return `/v1/projects/${project.id}/alerts/preview`
}

function sayFound({ supported, fired }: Preview): string {
  if (!supported) return 'Nothing is kept of the past that this looks at, so it cannot be tried on it.'
  if (fired === 0) return `It would not have fired in the last ${days} days.`
  return `It would have fired ${fired === 1 ? 'once' : `${fired.toLocaleString('en')} times`} in the last ${days} days.`
}

function sayLength(from: string, to: string): string {
  const minutes = Math.round((Date.parse(to) - Date.parse(from)) / 60_000)
  return minutes < 120 ? `${minutes} min` : `${Math.round(minutes / 60)} hours`
}
