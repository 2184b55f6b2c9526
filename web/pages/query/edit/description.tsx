import { Textarea } from '@mantine/core'
import { startTransition, useState } from 'react'

type Props = { value: string; disabled: boolean; onChange: (value: string) => void }

/**
 * Shows at once what is typed; the rest of the page, which is much more to draw, follows when there is time. Begins anew
 * with another key.
 */
export function Description({ value, disabled, onChange }: Props) {
  const [text, setText] = useState(value)
  return (
    <Textarea
      label="Description"
      description="What it answers, in one or two sentences. Callers read it, and questions are matched with it."
      autosize
      minRows={2}
      value={text}
      disabled={disabled}
      onChange={(event) => {
        const typed = event.currentTarget.value
        setText(typed)
        startTransition(() => onChange(typed))
      }}
    />
  )
}
