import { Kbd, Text, UnstyledButton } from '@mantine/core'
import { useHotkeys } from '@mantine/hooks'
import { Search } from 'lucide-react'
import classes from './jump.module.css'
import { useShellDialogs } from './shell-dialogs.tsx'

const isApple = /Mac|iPhone|iPad/.test(navigator.userAgent)

/** The way to anywhere. */
export function JumpButton() {
  const { jump } = useShellDialogs()
  useHotkeys([['mod+K', jump]], [])
  return (
    <UnstyledButton className={classes.button ?? ''} onClick={jump}>
      <Search size={15} aria-hidden />
      <Text component="span" c="dimmed" className={classes.words ?? ''}>
        Jump to…
      </Text>
      <Kbd size="xs" className={classes.key ?? ''} aria-hidden>
        {isApple ? '⌘ K' : 'Ctrl K'}
      </Kbd>
    </UnstyledButton>
  )
}
