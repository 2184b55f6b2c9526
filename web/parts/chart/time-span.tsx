import { Button, Group, Select, TextInput } from '@mantine/core'
import { useState } from 'react'
import { presets, type Span } from './spans.ts'

type Props = {
  span: Span | null
  /** The text when no time is chosen; without it one always is. */
  always?: string
  onChange: (changes: { hours: string; from: string; to: string }) => void
}

const custom = 'custom'

/** A time by name, or exactly. */
export function SpanPicker({ span, always, onChange }: Props) {
  const [typing, setTyping] = useState(false)
  const isExact = span !== null && 'from' in span
  const shown = typing || isExact ? custom : span === null ? '' : String(span.hours)
  return (
    <>
      <Select
        aria-label="Time"
        w={170}
        data={[
          ...(always === undefined ? [] : [{ value: '', label: always }]),
          ...presets,
          { value: custom, label: 'From … to …' },
        ]}
        value={shown}
        onChange={(value) => {
          setTyping(value === custom)
          if (value !== custom) onChange({ hours: value ?? '', from: '', to: '' })
        }}
      />
      {shown === custom && (
        <ExactSpan
          key={isExact ? `${span.from} ${span.to}` : ''}
          span={isExact ? span : null}
          onChange={(exact) => {
            setTyping(false)
            onChange({ hours: '', ...exact })
          }}
        />
      )}
    </>
  )
}

type Exact = { from: string; to: string }

function ExactSpan({ span, onChange }: { span: Exact | null; onChange: (span: Exact) => void }) {
  const [from, setFrom] = useState(() => localOf(span === null ? Date.now() - 86_400_000 : Date.parse(span.from)))
  const [to, setTo] = useState(() => localOf(span === null ? Date.now() : Date.parse(span.to)))
  const isGood = Date.parse(from) < Date.parse(to)
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault()
        if (isGood) onChange({ from: new Date(from).toISOString(), to: new Date(to).toISOString() })
      }}
    >
      <Group gap="xs" align="flex-start">
        <TextInput
          type="datetime-local"
          aria-label="From"
          value={from}
          onChange={(event) => setFrom(event.currentTarget.value)}
        />
        <TextInput
          type="datetime-local"
          aria-label="To"
          value={to}
          onChange={(event) => setTo(event.currentTarget.value)}
          error={isGood ? undefined : 'must be after the beginning'}
        />
        <Button type="submit" variant="default" disabled={!isGood}>
          Show
        </Button>
      </Group>
    </form>
  )
}

/** A moment as the field wants it: the reader's clock, to the minute. */
function localOf(ms: number): string {
  const date = new Date(ms)
  return new Date(ms - date.getTimezoneOffset() * 60_000).toISOString().slice(0, 16)
}
