import { Code, NumberInput, Select, Stack, Switch, Text, Textarea } from '@mantine/core'
import { servedRows, useDatasources, useObjects } from '../../../../client/things.ts'
import type { Project } from '../../../../client/wire.ts'
import type { Draft } from './draft.ts'
import { emptyForEach, type ForEachDraft } from './for-each.ts'

type Props = {
  project: Project
  /** The table that is filled: it cannot ask about itself. */
  tableName: string | undefined
  draft: Draft
  onChange: (part: Partial<Draft>) => void
  disabled: boolean
}

/** A request for each row of another table. */
export function ForEachFields({ project, tableName, draft: { forEach }, onChange, disabled }: Props) {
  const sources = useDatasources(project.id)
  const objects = useObjects(project.id)
  const served = servedRows(objects.data ?? [])
  const others = (sources.data ?? []).filter(({ id, table_name: name }) => name !== tableName && served.has(id))
  const chosen = others.find(({ table_name: name }) => name === forEach?.table)
  const columns = (served.get(chosen?.id ?? '')?.columns ?? []).map(({ name }) => name)
  const set = (part: Partial<ForEachDraft>): void => onChange({ forEach: { ...(forEach ?? emptyForEach), ...part } })
  return (
    <Stack gap="sm" maw="26rem">
      <Switch
        label="A request for each row of another table"
        checked={forEach !== null}
        disabled={disabled}
        onChange={(event) => onChange({ forEach: event.currentTarget.checked ? emptyForEach : null })}
      />
      {forEach === null ? (
        <Text size="xs" c="dimmed">
          For what an API gives only one by one: the lines of every order, the members of every team.
        </Text>
      ) : (
        <>
          <Select
            label="Table"
            placeholder={others.length === 0 ? 'No other table has data yet' : 'orders'}
            data={others.map(({ table_name: name }) => name)}
            value={forEach.table === '' ? null : forEach.table}
            disabled={disabled}
            onChange={(table) => set({ table: table ?? '' })}
          />
          <Text size="xs" c="dimmed">
            Write <Code>{`{{row.${columns[0] ?? 'id'}}}`}</Code> into the address, a parameter, a header or the body.
            {columns.length > 0 &&
              ` Its columns are ${columns.slice(0, 12).join(', ')}${columns.length > 12 ? ' …' : ''}.`}
          </Text>
          <Textarea
            label="Columns that join the two"
            description="One a line, such as order_id=id: a new column and the column of the other table that fills it. Empty names them after the table."
            placeholder="order_id=id"
            autosize
            minRows={2}
            maxRows={6}
            spellCheck={false}
            value={forEach.keys}
            disabled={disabled}
            onChange={(event) => set({ keys: event.currentTarget.value })}
          />
          <NumberInput
            label="Requests at most"
            min={1}
            max={1_000_000}
            allowDecimal={false}
            value={forEach.maxRequests}
            disabled={disabled}
            onChange={(count) => set({ maxRequests: Number(count) || 1 })}
          />
          <Text size="xs" c="dimmed">
            Test cannot know a row: it needs a value in its place. Fetching the data takes them all, in the background.
          </Text>
        </>
      )}
    </Stack>
  )
}
