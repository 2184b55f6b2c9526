import { Button, Group, Stack, Text, Textarea } from '@mantine/core'
import { KeyRound } from 'lucide-react'
import { useRef, type ReactNode } from 'react'
import { CopyButton } from '../text/copy.tsx'
import classes from './secret-box.module.css'

/** A secret that no one can show again: it says so, and stays until the reader says that it is stored. */
export function SecretBox({
  label,
  secret,
  children,
  onStored,
}: {
  label: string
  secret: string
  /** The purpose of the secret, and for how long it is valid. */
  children: ReactNode
  onStored: () => void
}) {
  const field = useRef<HTMLTextAreaElement>(null)
  return (
    <Stack gap="md">
      <div className={classes.box}>
        <Group gap="xs" wrap="nowrap" mb="xs">
          <KeyRound size={16} aria-hidden />
          <Text fw={600}>Shown only this once</Text>
        </Group>
        <Stack gap="xs" align="flex-start">
          <Textarea
            ref={field}
            label={label}
            value={secret}
            readOnly
            autosize
            w="100%"
            spellCheck={false}
            data-autofocus
            classNames={{ input: classes.secret ?? '' }}
            onFocus={(event) => event.currentTarget.select()}
          />
          <CopyButton text={secret} field={field} />
        </Stack>
      </div>
      <Text c="dimmed">{children}</Text>
      <Group justify="flex-end">
        <Button onClick={onStored}>I have stored it</Button>
      </Group>
    </Stack>
  )
}
