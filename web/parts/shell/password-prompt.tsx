import { Button, Group, Text } from '@mantine/core'
import { useLocalStorage } from '@mantine/hooks'
import { KeyRound } from 'lucide-react'
import { Link, useLocation } from 'wouter'
import { paths } from '../../browser/paths.ts'
import { useUser } from '../../client/queries.ts'
import classes from './password-prompt.module.css'

/** For someone who came by link and has no other way in yet. Gone once they say so; the account page has the form. */
export function PasswordPrompt() {
  const user = useUser()
  const [path] = useLocation()
  const [dismissedBy, setDismissedBy] = useLocalStorage({
    key: 'sluice-password-prompt-dismissed-by',
    defaultValue: '',
    getInitialValueInEffect: false,
  })
  const hasWayIn = user.email !== null && user.has_password
  if (hasWayIn || dismissedBy === user.id || path === paths.account) return null
  return (
    <section className={classes.prompt} aria-label="Set a password">
      <KeyRound size={18} aria-hidden />
      <Text flex="1 1 16rem">
        You came in by a one-time link. Set an e-mail and a password to come back without one.
      </Text>
      <Group gap="xs">
        <Button variant="subtle" size="xs" onClick={() => setDismissedBy(user.id)}>
          Not now
        </Button>
        <Button component={Link} href={paths.account} size="xs">
          Set them
        </Button>
      </Group>
    </section>
  )
}
