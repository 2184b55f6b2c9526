import { Loader, Group, Text } from '@mantine/core'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useEffect, useRef } from 'react'
import { Redirect, useLocation, useSearch } from 'wouter'
import { call } from '../client/api.ts'
import { useFragment } from '../browser/fragment.ts'
import { Gate } from '../parts/shell/gate.tsx'
import { RefusalNotice } from '../parts/text/refusal.tsx'
import { SignInForm } from '../parts/shell/sign-in-form.tsx'
import { nextPath } from '../browser/paths.ts'
import { keys, useSession } from '../client/queries.ts'
import type { User } from '../client/wire.ts'

/** A one-time link signs in by itself; everyone else types e-mail and password. */
export function SignInPage() {
  const secret = useFragment()
  const session = useSession()
  const client = useQueryClient()
  const [, navigate] = useLocation()
  const next = nextPath(useSearch())
  const enter = (user: User): void => {
    // Whatever another person saw in this tab is theirs.
    client.clear()
    client.setQueryData(keys.session, user)
    navigate(next, { replace: true })
  }
  const { mutate, ...byLink } = useMutation({
    mutationFn: (token: string) => call<User>('POST', '/v1/session/link', { body: { token }, open: true }),
    onSuccess: enter,
  })
  const used = useRef('')
  useEffect(() => {
    if (secret === '' || used.current === secret) return
    used.current = secret
    history.replaceState(history.state, '', location.pathname + location.search)
    mutate(secret)
  }, [secret, mutate])

  if (secret === '' && session.data) return <Redirect to={next} replace />
  if (secret !== '' && !byLink.isError) {
    return (
      <Gate title="Signing in">
        <Group gap="sm">
          <Loader size="sm" aria-hidden />
          <Text c="dimmed">The link is being checked.</Text>
        </Group>
      </Gate>
    )
  }
  return (
    <Gate title="Sign in">
      {byLink.isError && <RefusalNotice error={byLink.error} />}
      <SignInForm onSignedIn={enter} />
    </Gate>
  )
}
