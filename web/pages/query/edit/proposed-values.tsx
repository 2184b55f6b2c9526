import { Button, Text } from '@mantine/core'
import { useObject } from '../../build/shared/asked.ts'
import type { SlotSchema } from '../../build/shared/wire.ts'
import { servedRows, useObjects } from '../../../client/things.ts'

/** More values than these are typed rather than chosen from. */
const mostValues = 20

type Props = { projectId: string; sql: string; name: string; slot: SlotSchema; onTake: (slot: SlotSchema) => void }

/** Where the SQL compares the slot with a column of few values: offers them, to callers and to questions. */
export function ProposedValues({ projectId, sql, name, slot, onTake }: Props) {
  const column = slot.type === 'string' && slot.format === undefined ? comparedWith(sql, name) : null
  const isOpen = column !== null && slot['x-values-from'] === undefined && !('enum' in slot && slot.enum !== undefined)
  const objects = useObjects(projectId, isOpen)
  const table = [...servedRows(objects.data ?? []).values()].find(
    (each) => new RegExp(`\\b${each.table_name}\\b`, 'i').test(sql) && each.columns?.some((own) => own.name === column),
  )
  const described = useObject(projectId, isOpen ? table?.id : undefined)
  const profile = described.data?.profile?.columns.find((each) => each.name === column)
  if (!isOpen || table === undefined || profile === undefined || profile.distinct_count > mostValues) return null
  const values = profile.top_values.map(({ value }) => value)
  if (values.length === 0) return null
  return (
    <Text size="xs" c="dimmed" mt={4} maw="16rem">
      {values.slice(0, 4).join(', ')}
      {values.length > 4 && ', …'}{' '}
      <Button
        size="compact-xs"
        variant="light"
        aria-label={`Offer these values of ${table.table_name}.${column} for ${name}`}
        onClick={() => onTake({ ...slot, 'x-values-from': `${table.table_name}.${column}` })}
      >
        Offer these
      </Button>
    </Text>
  )
}

/** The column that the SQL compares the slot with by `=`, without its table. */
export function comparedWith(sql: string, name: string): string | null {
  const column = String.raw`(?:\w+\.)?([a-z_]\w*)`
  const slot = String.raw`\$${name}\b`
  const found =
    new RegExp(`${column}\\s*=\\s*${slot}`, 'i').exec(sql) ?? new RegExp(`${slot}\\s*=\\s*${column}`, 'i').exec(sql)
  return found?.[1] ?? null
}
