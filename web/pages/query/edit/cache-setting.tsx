import { Select } from '@mantine/core'
import { sayNumber } from '../../../text/words.ts'

type Props = { value: number | null; disabled: boolean; onChange: (seconds: number | null) => void }

const usual = [
  { seconds: 10, words: '10 seconds' },
  { seconds: 60, words: 'A minute' },
  { seconds: 300, words: '5 minutes' },
  { seconds: 3600, words: 'An hour' },
  { seconds: 86_400, words: 'A day' },
]

/** Chooses how long the answer to the same call is cached. */
export function CacheSetting({ value, disabled, onChange }: Props) {
  const seconds = value ?? 0
  const other = seconds === 0 || usual.some((each) => each.seconds === seconds) ? [] : [seconds]
  return (
    <Select
      label="Cache"
      description="Reuse an answer until the data changes. Deployed with the query."
      data={[
        { value: '0', label: 'Off: every call runs the query' },
        ...usual.map((each) => ({ value: String(each.seconds), label: each.words })),
        ...other.map((each) => ({ value: String(each), label: `${sayNumber(each)} seconds` })),
      ]}
      value={String(seconds)}
      disabled={disabled}
      onChange={(chosen) => onChange(chosen === null || chosen === '0' ? null : Number(chosen))}
    />
  )
}
