import { Button, Group, Modal, Stack, Text } from '@mantine/core'
import { Link } from 'wouter'
import { paths } from '../../browser/paths.ts'
import { useLeaving, useSignOut } from '../../client/sign-out.ts'
import { RefusalNotice } from '../text/refusal.tsx'

/** For someone who has no way back: said before they go, while it can still be mended. */
export function SignOutDialog() {
  const { isAsked, stay } = useLeaving()
  const signOut = useSignOut()
  return (
    <Modal opened={isAsked} onClose={stay} title="You could not come back">
      <Stack gap="md">
        <Text>
          You came in by a one-time link and have no e-mail and password yet. Once you are signed out you need a new
          link from whoever runs this service.
        </Text>
        <RefusalNotice error={signOut.error} />
        <Group justify="flex-end" gap="sm">
          <Button
            variant="default"
            loading={signOut.isPending}
            onClick={() => signOut.mutate(undefined, { onSuccess: stay })}
          >
            Sign out anyway
          </Button>
          <Button component={Link} href={paths.account} onClick={stay} data-autofocus>
            Set a password
          </Button>
        </Group>
      </Stack>
    </Modal>
  )
}
