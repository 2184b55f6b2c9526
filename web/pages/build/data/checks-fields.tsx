import { Button, Group, MultiSelect, NumberInput, Paper, Select, Stack, TagsInput, Text } from '@mantine/core'
import { useState } from 'react'
import { Row, Rows } from '../../../parts/table/rows.tsx'
import { isNumeric } from '../../../text/words.ts'
import type { Check, Column } from '../shared/wire.ts'
import { sayCheck } from './contract.ts'

type Props = { checks: Check[]; columns: Column[]; disabled: boolean; onChange: (checks: Check[]) => void }

/** The checks on new data before it serves, as sentences; one more is made from a small form. */
export function ChecksFields({ checks, columns, disabled, onChange }: Props) {
  const [adding, setAdding] = useState(false)
  return (
    <Stack gap="sm">
      {checks.length === 0 ? (
        <Text c="dimmed">Nothing is checked yet.</Text>
      ) : (
        <Rows label="Checks">
          {checks.map((check) => {
            const words = sayCheck(check)
            return (
              <Row
                key={JSON.stringify(check)}
                end={
                  disabled ? undefined : (
                    <Button
                      size="compact-xs"
                      variant="subtle"
                      color="gray"
                      aria-label={`Remove: ${words}`}
                      onClick={() => onChange(checks.filter((each) => each !== check))}
                    >
                      Remove
                    </Button>
                  )
                }
              >
                {words}
              </Row>
            )
          })}
        </Rows>
      )}
      {!disabled && !adding && (
        <Button variant="default" size="xs" onClick={() => setAdding(true)} style={{ alignSelf: 'flex-start' }}>
          Add a check
        </Button>
      )}
      {adding && (
        <NewCheck
          columns={columns}
          onClose={() => setAdding(false)}
          onAdd={(check) => {
            setAdding(false)
            onChange([...checks, check])
          }}
        />
      )}
    </Stack>
  )
}

const kinds: Array<{ value: Check['type']; label: string }> = [
  { value: 'not_null', label: 'A column is never missing' },
  { value: 'unique', label: 'Rows are there once only' },
  { value: 'accepted_values', label: 'A column has known values only' },
  { value: 'row_count_share', label: 'About as many rows as before' },
  { value: 'freshness', label: 'The data is recent' },
]

type Typed = {
  columns: string[]
  values: string[]
  /** A value that is still being typed. */
  begun: string
  min: number | string
  max: number | string
  hours: number | string
}
const nothing: Typed = { columns: [], values: [], begun: '', min: 50, max: '', hours: 24 }

type NewProps = { columns: Column[]; onAdd: (check: Check) => void; onClose: () => void }

function NewCheck({ columns, onAdd, onClose }: NewProps) {
  const [kind, setKind] = useState<Check['type']>('not_null')
  const [typed, setTyped] = useState<Typed>(nothing)
  const set = (part: Partial<Typed>): void => setTyped({ ...typed, ...part })
  const made = checkOf(kind, typed, columns)
  const names = columns.map(({ name }) => name)
  return (
    <Paper p="sm" radius="md" bd="1px solid var(--sluice-line)" bg="transparent">
      <Stack gap="sm" maw="26rem">
        <Select
          label="What must hold"
          data={kinds}
          value={kind}
          onChange={(value) => setKind(kinds.find((each) => each.value === value)?.value ?? 'not_null')}
        />
        {kind === 'unique' && (
          <MultiSelect
            label="Columns that tell rows apart"
            data={names}
            value={typed.columns}
            onChange={(chosen) => set({ columns: chosen })}
          />
        )}
        {(kind === 'not_null' || kind === 'accepted_values' || kind === 'freshness') && (
          <Select
            label="Column"
            searchable
            data={names}
            value={typed.columns[0] ?? null}
            onChange={(name) => set({ columns: name === null ? [] : [name] })}
          />
        )}
        {kind === 'accepted_values' && (
          <TagsInput
            label="Values"
            description="Enter or a comma ends one."
            splitChars={[',']}
            acceptValueOnBlur
            value={typed.values}
            onChange={(values) => setTyped((before) => ({ ...before, values }))}
            searchValue={typed.begun}
            onSearchChange={(begun) => setTyped((before) => ({ ...before, begun }))}
          />
        )}
        <Limits kind={kind} typed={typed} set={set} />
        <Group gap="xs">
          <Button size="xs" disabled={made === null} onClick={() => made !== null && onAdd(made)}>
            Add it
          </Button>
          <Button size="xs" variant="default" onClick={onClose}>
            Cancel
          </Button>
        </Group>
      </Stack>
    </Paper>
  )
}

function Limits({ kind, typed, set }: { kind: Check['type']; typed: Typed; set: (part: Partial<Typed>) => void }) {
  return (
    <>
      {kind === 'row_count_share' && (
        <Group grow>
          <NumberInput label="At least, %" min={0} value={typed.min} onChange={(min) => set({ min })} />
          <NumberInput label="At most, %" min={0} value={typed.max} onChange={(max) => set({ max })} />
        </Group>
      )}
      {kind === 'freshness' && (
        <NumberInput
          label="Hours at most"
          min={1}
          max={87_600}
          allowDecimal={false}
          value={typed.hours}
          onChange={(hours) => set({ hours })}
        />
      )}
    </>
  )
}

/** The check that the form describes; null while something is missing. */
function checkOf(kind: Check['type'], typed: Typed, columns: Column[]): Check | null {
  const [column] = typed.columns
  if (kind === 'row_count_share') {
    const share = (text: number | string): number | undefined => (text === '' ? undefined : Number(text) / 100)
    const [min, max] = [share(typed.min), share(typed.max)]
    return min === undefined && max === undefined
      ? null
      : { type: kind, ...(min !== undefined && { min }), ...(max !== undefined && { max }) }
  }
  if (column === undefined) return null
  switch (kind) {
    case 'not_null':
      return { type: kind, column }
    case 'unique':
      return { type: kind, columns: typed.columns }
    case 'accepted_values': {
      const type = columns.find(({ name }) => name === column)?.type ?? ''
      const texts = [...typed.values, typed.begun].map((text) => text.trim()).filter(Boolean)
      const values = [...new Set(texts)].map((text) => valueOf(text, type))
      return values.length === 0 ? null : { type: kind, column, values }
    }
    case 'freshness':
      return Number(typed.hours) > 0 ? { type: kind, column, max_age_minutes: Number(typed.hours) * 60 } : null
    default:
      return kind satisfies never
  }
}

function valueOf(text: string, type: string): string | number | boolean {
  if (isNumeric(type) && text.trim() !== '' && Number.isFinite(Number(text))) return Number(text)
  if (type === 'BOOLEAN' && (text === 'true' || text === 'false')) return text === 'true'
  return text
}
