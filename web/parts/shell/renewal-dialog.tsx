import { Button, Group, Modal, Stack, Text } from '@mantine/core'
import { useWindowEvent } from '@mantine/hooks'
import { useQueryClient } from '@tanstack/react-query'
import { useLocation } from 'wouter'
import { paths } from '../../browser/paths.ts'
import { keys, readSession, useSession } from '../../client/queries.ts'
import { useRenewal } from '../../client/renewal.ts'
import type { User } from '../../client/wire.ts'
import { SignInForm } from './sign-in-form.tsx'

/** Opens over whatever page is there when the session has ended, and lets what was waiting go on. */
export function RenewalDialog() {
  const renewal = useRenewal()
  const { data: before } = useSession()
  const client = useQueryClient()
  const [, navigate] = useLocation()
  if (renewal === null) return null

  const goOn = (user: User): void => {
    client.setQueryData(keys.session, user)
    const same = before === undefined || before === null || before.id === user.id
    // An edit of one person is not finished in the name of another.
    renewal.settle(same)
    if (!same) {
      navigate(paths.home)
      client.removeQueries({ predicate: (query) => query.queryKey[0] !== keys.session[0] })
    }
  }
  return (
    <Modal
      opened
      onClose={() => renewal.settle(false)}
      title="Your session has ended"
      closeOnClickOutside={false}
      size="sm"
    >
      <Stack gap="md">
        <Text c="dimmed">Nothing on this page is lost. Sign in again and it goes on from here.</Text>
        {before?.has_password === false ? (
          <LinkOnly onSignedIn={goOn} />
        ) : (
          <SignInForm email={before?.email ?? ''} onSignedIn={goOn} />
        )}
      </Stack>
    </Modal>
  )
}

/** For the first user before there is a password. */
function LinkOnly({ onSignedIn }: { onSignedIn: (user: User) => void }) {
  const check = async (): Promise<void> => {
    const user = await readSession().catch(() => null)
    if (user !== null) onSignedIn(user)
  }
  useWindowEvent('focus', () => void check())
  return (
    <>
      <Text>
        You have set no password yet. Open a new sign-in link in another tab (<code>npm start</code> prints one), then
        come back.
      </Text>
      <Group justify="flex-end">
        <Button onClick={() => void check()}>I have signed in</Button>
      </Group>
    </>
  )
}
