import { Button, Group, Select, Stack, TextInput } from '@mantine/core'
import { useState } from 'react'
import { kindOf, sayMoment, type ColumnKind } from '../cells/cell-text.ts'
import type { Filter, FilterTest, GridColumn } from '../cells/model.ts'

const testWords: Record<FilterTest, string> = {
  contains: 'contains',
  is: 'is',
  is_not: 'is not',
  at_least: 'is at least',
  at_most: 'is at most',
  empty: 'is empty',
  present: 'is not empty',
}

const testsOf: Record<ColumnKind, FilterTest[]> = {
  text: ['contains', 'is', 'is_not', 'empty', 'present'],
  object: ['contains', 'empty', 'present'],
  boolean: ['is', 'empty', 'present'],
  number: ['is', 'at_least', 'at_most', 'is_not', 'empty', 'present'],
  date: ['is', 'at_least', 'at_most', 'is_not', 'empty', 'present'],
  time: ['at_least', 'at_most', 'empty', 'present'],
}

const inputTypes: Partial<Record<ColumnKind, string>> = { number: 'number', date: 'date', time: 'datetime-local' }

export function sayFilter({ column, test, value = '' }: Filter, type: string): string {
  const shown = kindOf(type) === 'time' && value !== '' ? sayMoment(value) : value
  return `${column} ${testWords[test]}${test === 'empty' || test === 'present' ? '' : ` ${shown}`}`
}

/** The condition on a column for its row to be shown. */
export function ColumnFilter({ column, onAdd }: { column: GridColumn; onAdd: (filter: Filter) => void }) {
  const kind = kindOf(column.type)
  const tests = testsOf[kind]
  const [test, setTest] = useState<FilterTest>(tests[0] ?? 'contains')
  const [value, setValue] = useState('')
  const takesValue = test !== 'empty' && test !== 'present'
  const add = (): void => {
    if (takesValue && value === '') return
    // By the clock of who reads it; what is compared is the moment.
    const exact = kind === 'time' && takesValue ? new Date(value).toISOString() : value
    onAdd({ column: column.name, test, ...(takesValue && { value: exact }) })
    setValue('')
  }
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault()
        add()
      }}
    >
      <Stack gap="xs">
        <Group gap="xs" wrap="nowrap">
          <Select
            size="xs"
            aria-label={`How ${column.name} is filtered`}
            data={tests.map((each) => ({ value: each, label: testWords[each] }))}
            value={test}
            onChange={(chosen) => setTest(tests.find((each) => each === chosen) ?? test)}
            comboboxProps={{ withinPortal: false }}
            w={takesValue ? '7.5rem' : '100%'}
          />
          {takesValue &&
            (kind === 'boolean' ? (
              <Select
                size="xs"
                flex={1}
                aria-label="Value"
                data={['true', 'false']}
                value={value === '' ? null : value}
                onChange={(chosen) => setValue(chosen ?? '')}
                comboboxProps={{ withinPortal: false }}
              />
            ) : (
              <TextInput
                size="xs"
                flex={1}
                aria-label="Value"
                type={inputTypes[kind] ?? 'text'}
                step={kind === 'time' ? 1 : 'any'}
                value={value}
                onChange={(event) => setValue(event.currentTarget.value)}
              />
            ))}
        </Group>
        <Button type="submit" size="xs" variant="light" disabled={takesValue && value === ''}>
          Show only these
        </Button>
      </Stack>
    </form>
  )
}
