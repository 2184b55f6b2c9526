import { Button, Group } from '@mantine/core'
import { RefusalNotice } from '../text/refusal.tsx'

type Props = {
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

/** The end of a form in a dialog: why it was refused, the way out and the act. */
export function FormEnd({ act, fields, verb, danger = false, disabled = false, onClose, leave = 'Cancel' }: Props) {
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
