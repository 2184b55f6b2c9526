import { Modal } from '@mantine/core'
import type { ReactNode } from 'react'
import { SecretBox } from './secret-box.tsx'

type Props = {
  opened: boolean
  onClose: () => void
  /** Titles of the form, and of the secret that comes of it. */
  title: string
  secretTitle?: string
  size?: string
  /** Undefined until the form has brought one. */
  secret: string | undefined
  /** The name of the secret, and what to do with it. */
  label: string
  about: ReactNode
  /** Where more than one is shown, the next one. */
  onStored?: () => void
  /** The form. */
  children: ReactNode
}

/** First a form, then the secret it made, which is not shown again. */
export function SecretDialog({
  opened,
  onClose,
  title,
  secretTitle = title,
  size = 'md',
  secret,
  label,
  about,
  onStored = onClose,
  children,
}: Props) {
  const asking = secret === undefined
  return (
    <Modal
      opened={opened}
      onClose={onClose}
      size={size}
      title={asking ? title : secretTitle}
      // A stray click must not lose the secret.
      closeOnClickOutside={asking}
      closeOnEscape={asking}
      withCloseButton={asking}
    >
      {secret === undefined ? (
        children
      ) : (
        <SecretBox key={secret} label={label} secret={secret} onStored={onStored}>
          {about}
        </SecretBox>
      )}
    </Modal>
  )
}
