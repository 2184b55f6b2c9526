import { Autocomplete, Code, Group, Radio, Stack, TagsInput, Text, TextInput } from '@mantine/core'
import { typed } from '../../../../parts/form/typed.ts'
import type { Draft } from './draft.ts'
import type { LoadDraft } from './load.ts'

type Props = {
  draft: Draft
  /** Keys of the answer that are known from the data. */
  fields: string[]
  onChange: (part: Partial<Draft>) => void
  disabled: boolean
  /** The way in which new rows come. */
  by?: 'refresh' | 'file'
}

const modes: Array<{ value: LoadDraft['mode']; label: string; about: string }> = [
  { value: 'replace', label: 'Replace the table', about: 'Each load is all of it.' },
  { value: 'append', label: 'Add to the table', about: 'Rows are added, and none is ever changed.' },
  { value: 'merge', label: 'Merge by key', about: 'A row with a known key replaces the one that is there.' },
]

/** Whether a refresh loads everything or what is new, and how that is told. */
export function LoadFields({ draft, fields, onChange, disabled, by = 'refresh' }: Props) {
  const { load } = draft
  const set = (part: Partial<LoadDraft>): void => onChange({ load: { ...load, ...part } })
  const text = typed(load, set, disabled)
  return (
    <Stack gap="sm" maw="26rem">
      <Radio.Group
        label={by === 'file' ? 'What a file does' : 'What a refresh does'}
        value={load.mode}
        onChange={(mode) => set({ mode: modes.find(({ value }) => value === mode)?.value ?? 'replace' })}
      >
        <Stack gap="xs" mt={6}>
          {modes.map(({ value, label, about }) => (
            <Radio key={value} value={value} label={label} description={about} disabled={disabled} />
          ))}
        </Stack>
      </Radio.Group>
      {load.mode !== 'replace' && <WhatIsNew {...{ load, set, fields, disabled, by }} />}
      {by === 'refresh' && (
        <Group grow align="flex-start">
          <TextInput
            label="In windows from"
            description={
              <>
                A request for each span of days: write <Code>{'{{window_start}}'}</Code> and{' '}
                <Code>{'{{window_end}}'}</Code> into it.
              </>
            }
            placeholder="2024-01-01"
            {...text('windowStart')}
          />
          {load.windowStart.trim() !== '' && (
            <TextInput
              label="Days or months each"
              description="Later loads begin at the day of the cursor."
              placeholder="7d, 1m"
              {...text('windowSize')}
            />
          )}
        </Group>
      )}
    </Stack>
  )
}

type NewProps = Pick<Props, 'fields' | 'disabled'> & { by: 'refresh' | 'file' } & {
  load: LoadDraft
  set: (part: Partial<LoadDraft>) => void
}

function WhatIsNew({ load, set, fields, disabled, by }: NewProps) {
  const text = typed(load, set, disabled)
  return (
    <>
      <TagsInput
        label="Key"
        description={
          load.mode === 'merge'
            ? 'The fields that tell a row.'
            : 'If any: rows whose key is there already are left out.'
        }
        withAsterisk={load.mode === 'merge'}
        data={fields}
        acceptValueOnBlur
        disabled={disabled}
        value={load.key}
        onChange={(key) => set({ key })}
      />
      <Autocomplete
        label="Cursor"
        description={
          by === 'file'
            ? 'Of several rows with one key, the one with the largest value counts.'
            : 'The field whose largest value goes into the next request.'
        }
        placeholder="updated_at"
        data={fields}
        disabled={disabled}
        value={load.cursorField}
        onChange={(cursorField) => set({ cursorField })}
      />
      {load.cursorField.trim() !== '' && by === 'refresh' && <CursorFields text={text} />}
      {load.mode === 'merge' && (
        <Group grow align="flex-start">
          <Autocomplete
            label="Deleted where"
            placeholder="status"
            data={fields}
            disabled={disabled}
            value={load.deleteField}
            onChange={(deleteField) => set({ deleteField })}
          />
          <TextInput label="is" aria-label="Value of a deleted row" placeholder="deleted" {...text('deleteValue')} />
        </Group>
      )}
      <Text size="xs" c="dimmed">
        The first load after a change of these is a full one.
      </Text>
    </>
  )
}

/** Where the largest value goes in the next request. */
function CursorFields({ text }: { text: ReturnType<typeof typed<LoadDraft>> }) {
  return (
    <>
      <TextInput
        label="Parameter that takes it"
        description={
          <>
            Or write <Code>{'{{last_value}}'}</Code> into the address, a header or the body.
          </>
        }
        placeholder="updated_since"
        {...text('cursorParameter')}
      />
      <Group grow align="flex-start">
        <TextInput label="In a full load" placeholder="2020-01-01" {...text('initialValue')} />
        <TextInput label="Look back" placeholder="10m, 2h, 7d" {...text('lookBack')} />
      </Group>
    </>
  )
}
