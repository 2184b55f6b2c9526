import { Button, Group, Text } from '@mantine/core'
import type { Inspection } from '../../build/shared/wire.ts'

type Bound = NonNullable<Inspection['bounds']>[string]

/** How a slot bounds a range, which the SQL says; and what to do where it loses a part of a day. */
export function SlotBound({ bound, onFix }: { bound: Bound | undefined; onFix: (() => void) | null }) {
  if (bound === undefined || (bound.side === null && bound.problem?.reason !== 'period_end')) return null
  if (bound.problem === null) {
    return (
      <Text size="xs" c="dimmed" mt={4}>
        {sayBound(bound)}
      </Text>
    )
  }
  return (
    <Group gap="xs" mt={4}>
      <Text size="xs" c={bound.problem.reason === 'period_end' ? 'var(--sluice-danger)' : 'dimmed'}>
        {bound.problem.message}
        {bound.problem.reason === 'period_end' && ' Questions about a period are refused.'}
      </Text>
      {onFix !== null && bound.problem.reason === 'period_end' && (
        <Button size="compact-xs" variant="light" onClick={onFix}>
          Fix the SQL
        </Button>
      )}
    </Group>
  )
}

function sayBound({ side, bound, from }: Bound): string {
  const end = side === 'start' ? 'Range start' : 'Range end'
  const other = side === 'start' ? 'the range begins the day after' : 'the range ends the day before'
  const meaning = bound === 'inclusive' ? 'inclusive' : `exclusive: ${other}`
  return `${end}, ${meaning}${from === 'slot' ? ' (set here)' : ''}`
}
