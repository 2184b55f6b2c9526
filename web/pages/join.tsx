import { Anchor, Button, PasswordInput, Stack, Text, TextInput } from '@mantine/core'
import { useForm } from '@mantine/form'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { Link, useLocation } from 'wouter'
import { call } from '../client/api.ts'
import { useFragment } from '../browser/fragment.ts'
import { Gate } from '../parts/shell/gate.tsx'
import { Loaded } from '../parts/text/loaded.tsx'
import { RefusalNotice } from '../parts/text/refusal.tsx'
import { aRole } from '../parts/form/roles.tsx'
import { SignInForm } from '../parts/shell/sign-in-form.tsx'
import { paths } from '../browser/paths.ts'
import { keys, useSession } from '../client/queries.ts'
import { fieldErrors } from '../client/refusals.ts'
import type { AcceptInvitation, InvitationPreview, User } from '../client/wire.ts'

type Joined = { user: User; project_id: string }
type Newcomer = { name: string; email: string; password: string }

/** An invitation: what it offers, and one way to accept it for people with an account and one for people without. */
export function JoinPage() {
  const token = useFragment()
  const session = useSession()
  const offer = useQuery({
    queryKey: ['invitation', token],
    queryFn: () => call<InvitationPreview>('POST', '/v1/invitations/read', { body: { token }, open: true }),
    enabled: token !== '',
    retry: false,
    staleTime: Infinity,
  })
  if (token === '' || offer.error !== null) {
    return (
      <Gate title="This invitation cannot be used">
        {token === '' ? (
          <Text>The address holds no invitation. Open the link you were sent, all of it.</Text>
        ) : (
          <RefusalNotice error={offer.error} />
        )}
        <Anchor component={Link} href={paths.home}>
          Go to your projects
        </Anchor>
      </Gate>
    )
  }
  return (
    <Loaded query={session} waiting={null}>
      {(user) =>
        offer.data === undefined ? null : (
          <Gate
            title={`Join ${offer.data.project_name}`}
            about={`You are invited as ${aRole(offer.data.role)} of this project.`}
          >
            {user === null ? <Strangers token={token} offer={offer.data} /> : <Member token={token} user={user} />}
          </Gate>
        )
      }
    </Loaded>
  )
}

function useJoin() {
  const client = useQueryClient()
  const [, navigate] = useLocation()
  return useMutation({
    mutationFn: (body: AcceptInvitation) => call<Joined>('POST', '/v1/invitations/accept', { body, open: true }),
    onSuccess: ({ user, project_id: projectId }) => {
      client.clear()
      client.setQueryData(keys.session, user)
      // Replaces the address that holds the invitation.
      navigate(paths.project(projectId), { replace: true })
    },
  })
}

function Member({ token, user }: { token: string; user: User }) {
  const join = useJoin()
  return (
    <Stack gap="md">
      <Text>
        You are signed in as <strong>{user.email ?? user.name}</strong>.
      </Text>
      <RefusalNotice error={join.error} />
      <Button loading={join.isPending} onClick={() => join.mutate({ token })}>
        Join the project
      </Button>
    </Stack>
  )
}

function Strangers({ token, offer }: { token: string; offer: InvitationPreview }) {
  const [hasAccount, setHasAccount] = useState(false)
  const client = useQueryClient()
  return (
    <Stack gap="lg">
      {hasAccount ? (
        <SignInForm email={offer.email ?? ''} onSignedIn={(user) => client.setQueryData(keys.session, user)} />
      ) : (
        <NewcomerForm token={token} email={offer.email ?? ''} />
      )}
      <Anchor component="button" type="button" ta="center" onClick={() => setHasAccount(!hasAccount)}>
        {hasAccount ? 'I am new here' : 'I have an account'}
      </Anchor>
    </Stack>
  )
}

function NewcomerForm({ token, email }: { token: string; email: string }) {
  const join = useJoin()
  const form = useForm<Newcomer>({
    initialValues: { name: '', email, password: '' },
    validate: {
      name: (name) => (name.trim() === '' ? 'Type your name.' : null),
      email: (address) => (address.trim() === '' ? 'Type your e-mail.' : null),
      password: (password) => (password === '' ? 'Choose a password.' : null),
    },
  })
  return (
    <form
      noValidate
      onSubmit={form.onSubmit((person) =>
        join.mutate({ token, ...person }, { onError: (error) => form.setErrors(fieldErrors(error)) }),
      )}
    >
      <Stack gap="md">
        <TextInput label="Your name" autoComplete="name" {...form.getInputProps('name')} />
        <TextInput label="E-mail" type="email" autoComplete="username" {...form.getInputProps('email')} />
        <PasswordInput
          label="Choose a password"
          description="At least 10 characters."
          autoComplete="new-password"
          visibilityToggleButtonProps={{ 'aria-label': 'Show the password' }}
          {...form.getInputProps('password')}
        />
        <RefusalNotice error={join.error} fields={['name', 'email', 'password']} />
        <Button type="submit" loading={join.isPending} fullWidth>
          Join the project
        </Button>
      </Stack>
    </form>
  )
}
