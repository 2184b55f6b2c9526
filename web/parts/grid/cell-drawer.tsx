import { Drawer, Group, Stack, Text } from '@mantine/core'
import { sayNumber, sayType, sayValue } from '../../text/words.ts'
import { CopyMark } from '../text/copy.tsx'
import { Ago } from '../text/time.tsx'
import { ValueTree } from '../text/value-tree.tsx'
import { formatOf, isNothing, kindOf, sayMoment, zoneName } from '../cells/cell-text.ts'
import classes from './grid.module.css'
import type { GridColumn, GridRow } from '../cells/model.ts'

type Props = {
  column: GridColumn
  columns: GridColumn[]
  row: GridRow
  number: number
  onClose: () => void
}

/** One value whole and exact, and the row that it stands in. */
export function CellDrawer({ column, columns, row, number, onClose }: Props) {
  const value = row[column.name]
  return (
    <Drawer
      opened
      onClose={onClose}
      position="right"
      size="md"
      title={
        <Text fw={600} component="span" className={classes.heading ?? ''}>
          {column.name}{' '}
          <Text span c="dimmed" size="xs">
            {sayType(column.type)}, row {sayNumber(number + 1)}
          </Text>
        </Text>
      }
      closeButtonProps={{ 'aria-label': 'Close' }}
      attributes={{ header: { role: 'presentation' } }}
    >
      <Stack gap="lg">
        <Group gap="xs" wrap="nowrap" align="start">
          <div className={classes.whole}>
            <Whole column={column} value={value} />
          </div>
          <CopyMark text={exactText(value)} what="the value" />
        </Group>
        {columns.length > 1 && (
          <section aria-label="The whole row">
            <Text size="xs" c="dimmed" mb={6}>
              The whole row
            </Text>
            <dl className={classes.fields}>
              {columns.map((each) => (
                <div key={each.name} data-chosen={each.name === column.name || undefined}>
                  <dt>{each.name}</dt>
                  <dd>
                    {isNothing(row[each.name]) ? (
                      <i className={classes.none}>null</i>
                    ) : (
                      formatOf(each, [row]).say(row[each.name])
                    )}
                  </dd>
                </div>
              ))}
            </dl>
          </section>
        )}
      </Stack>
    </Drawer>
  )
}

function exactText(value: unknown): string {
  return typeof value === 'object' && value !== null ? JSON.stringify(value, null, 2) : sayValue(value)
}

function Whole({ column, value: given }: { column: GridColumn; value: unknown }) {
  const value = heldValue(given)
  if (isNothing(value)) return <i className={classes.none}>null</i>
  if (typeof value === 'object')
    return <ValueTree label={`Value of ${column.name}`} value={value} whole={column.name} />
  if (kindOf(column.type) === 'time' && typeof value === 'string') {
    return (
      <Stack gap={2}>
        <Text className="numbers">
          {sayMoment(value)}{' '}
          <Text span c="dimmed" size="xs">
            {zoneName()}
          </Text>
        </Text>
        <Text className="numbers" ff="monospace" size="xs">
          {value}
        </Text>
        <Text size="xs" c="dimmed">
          <Ago at={value} />
        </Text>
      </Stack>
    )
  }
  return <pre className={classes.exact}>{sayValue(value)}</pre>
}

/** A text that holds JSON is shown as what it holds. */
function heldValue(value: unknown): unknown {
  if (typeof value !== 'string' || !/^\s*[[{]/.test(value)) return value
  try {
    return JSON.parse(value) as unknown
  } catch {
    return value
  }
}
