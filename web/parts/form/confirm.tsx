import { Code, Modal, Text, TextInput } from '@mantine/core'
import type { UseMutationResult } from '@tanstack/react-query'
import { useState, type ReactNode } from 'react'
import { ActForm } from './act-form.tsx'

type Props = {
  opened: boolean
  onClose: () => void
  /** The act and the thing: `Revoke deploy-bot`. */
  title: string
  /** The consequences. */
  children: ReactNode
  /** The verb on the button. */
  verb: string
  /** A name to type first, for what cannot be undone. */
  typed?: string
  act: UseMutationResult<unknown, Error, void>
}

/** Asks before an act that takes something away, and stays open with the reason when it is refused. */
export function Confirm({ opened, onClose, title, children, verb, typed, act }: Props) {
  const close = (): void => {
    act.reset()
    onClose()
  }
  return (
    <Modal opened={opened} onClose={close} title={title}>
      <ConfirmForm verb={verb} typed={typed} act={act} onClose={close}>
        {children}
      </ConfirmForm>
    </Modal>
  )
}

function ConfirmForm({
  children,
  verb,
  typed,
  act,
  onClose,
}: Pick<Props, 'children' | 'verb' | 'act' | 'onClose'> & { typed: string | undefined }) {
  const [text, setText] = useState('')
  const ready = typed === undefined || text.trim() === typed
  return (
    <ActForm
      onSubmit={() => ready && act.mutate(undefined, { onSuccess: onClose })}
      act={act}
      verb={verb}
      danger
      disabled={!ready}
      onClose={onClose}
    >
      <Text component="div">{children}</Text>
      {typed !== undefined && (
        <TextInput
          label={
            <>
              Type <Code>{typed}</Code> to confirm
            </>
          }
          value={text}
          onChange={(event) => setText(event.currentTarget.value)}
          data-autofocus
        />
      )}
    </ActForm>
  )
}

type AskProps = Omit<Props, 'opened' | 'onClose' | 'title'> & {
  /** Where it says more than the verb. */
  title?: string
  renderButton: (ask: () => void) => ReactNode
}

/** A button for an act that takes something away: it asks first. */
export function AskFirst({ renderButton, title, ...act }: AskProps) {
  const [asking, setAsking] = useState(false)
  return (
    <>
      {renderButton(() => setAsking(true))}
      <Confirm opened={asking} onClose={() => setAsking(false)} title={title ?? act.verb} {...act} />
    </>
  )
}
