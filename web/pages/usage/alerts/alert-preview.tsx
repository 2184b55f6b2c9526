import { Button, Group, List, Stack, Text } from '@mantine/core'
import { History } from 'lucide-react'
import { call } from '../../../client/api.ts'
import { RefusalNotice } from '../../../parts/text/refusal.tsx'
import { Moment } from '../../../parts/text/time.tsx'
import { Verdict } from '../../../parts/text/verdict.tsx'
import { useAct } from '../../../client/queries.ts'
import { sayCount } from '../../../text/words.ts'
import { kindOf, sayMeasured } from './alert-kinds.ts'
import { previewOf, type AlertValues } from './alert-values.ts'
import type { Place } from '../../deploy/shared/place.ts'
import type { AlertPreview as Preview, AlertType } from '../../deploy/shared/usage-wire.ts'

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
  // The result holds for the rules that were tried.
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
        <Verdict says={sayFound(type, found)} mood="plain">
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
          {isPartly(found) && (
            <Text size="sm">
              Judged since <Moment at={found.known_from} />: of the time before, nothing that it looks at is kept.
            </Text>
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

function sayFound(type: AlertType, found: Preview): string {
  const { fired, judged_minutes: judged } = found
  const when = `in the last ${days} days`
  if (judged === 0) return `Nothing could be judged ${when}: ${kindOf(type).unjudged}.`
  if (fired === 0) return `It would not have fired ${when}.`
  return `It would have fired ${fired === 1 ? 'once' : `${fired.toLocaleString('en')} times`} ${when}.`
}

function isPartly({ from, known_from: knownFrom, judged_minutes: judged }: Preview): boolean {
  return judged > 0 && Date.parse(knownFrom) > Date.parse(from)
}

function sayLength(from: string, to: string): string {
  const minutes = Math.round((Date.parse(to) - Date.parse(from)) / 60_000)
  return minutes < 120 ? `${minutes} min` : `${Math.round(minutes / 60)} hours`
}
