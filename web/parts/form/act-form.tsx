import { Button, Group, Stack } from '@mantine/core'
import type { FormEvent, ReactNode } from 'react'
import { RefusalNotice } from '../text/refusal.tsx'

type EndProps = {
  act: { error: Error | null; isPending: boolean }
  /** Fields of the form, which show what concerns them themselves. */
  fields?: readonly string[]
  verb: string
  /** For what takes something away. */
  danger?: boolean
  disabled?: boolean
  onClose: () => void
  /** The name of the button that leaves, where it is not cancelling. */
  leave?: string
}

type Props = EndProps & {
  onSubmit: (event: FormEvent<HTMLFormElement>) => void
  gap?: 'md' | 'lg'
  children: ReactNode
}

/** A form in a dialog, for one act. */
export function ActForm({ onSubmit, gap = 'md', children, ...end }: Props) {
  return (
    <form
      noValidate
      onSubmit={(event) => {
        event.preventDefault()
        // React hands it on to the form that the dialog stands in, which would be sent as well.
        event.stopPropagation()
        onSubmit(event)
      }}
    >
      <Stack gap={gap}>
        {children}
        <FormEnd {...end} />
      </Stack>
    </form>
  )
}

/** The end of a form: why it was refused, the way out and the act. */
export function FormEnd({ act, fields, verb, danger = false, disabled = false, onClose, leave = 'Cancel' }: EndProps) {
  return (
    <>
      <RefusalNotice error={act.error} {...(fields !== undefined && { fields })} />
      <Group justify="flex-end" gap="sm">
        <Button variant="default" onClick={onClose}>
          {leave}
        </Button>
        <Button type="submit" {...(danger && { color: 'red.9' })} disabled={disabled} loading={act.isPending}>
          {verb}
        </Button>
      </Group>
    </>
  )
}
