import { Button, Group, PasswordInput, SegmentedControl, Stack, TextInput, useMantineColorScheme } from '@mantine/core'
import { useForm } from '@mantine/form'
import { useQueryClient } from '@tanstack/react-query'
import { LogOut } from 'lucide-react'
import { call } from '../client/api.ts'
import { schemes } from '../parts/shell/account-menu.tsx'
import { Card } from '../parts/text/card.tsx'
import { SettingsForm } from '../parts/form/settings-form.tsx'
import { Heading } from '../parts/text/heading.tsx'
import { RefusalNotice } from '../parts/text/refusal.tsx'
import { Shell } from '../parts/shell/shell.tsx'
import { keys, useAct, useUser } from '../client/queries.ts'
import { fieldErrors } from '../client/refusals.ts'
import { useSignOut } from '../client/sign-out.ts'
import type { UpdateSelf, User } from '../client/wire.ts'

export function AccountPage() {
  const signOut = useSignOut()
  return (
    <Shell>
      <Stack gap="lg" maw="38rem" mx="auto">
        <Heading
          title="Account"
          action={
            <Button
              variant="default"
              leftSection={<LogOut size={16} aria-hidden />}
              loading={signOut.isPending}
              onClick={() => signOut.mutate()}
            >
              Sign out
            </Button>
          }
        />
        <RefusalNotice error={signOut.error} />
        <NameCard />
        <SignInCard />
        <AppearanceCard />
      </Stack>
    </Shell>
  )
}

function useUpdateSelf(message: string) {
  const client = useQueryClient()
  return useAct(
    async (body: UpdateSelf) => {
      const user = await call<User>('PATCH', '/v1/session/user', { body })
      client.setQueryData(keys.session, user)
    },
    { refresh: [keys.projects], say: () => message },
  )
}

function NameCard() {
  const user = useUser()
  const update = useUpdateSelf('Your name is changed.')
  const form = useForm({
    initialValues: { name: user.name },
    validate: { name: (name) => (name.trim() === '' ? 'Type your name.' : null) },
  })
  return (
    <Card title="Name" about="How other members see you.">
      <SettingsForm form={form} act={update} verb="Save name">
        <TextInput label="Your name" autoComplete="name" {...form.getInputProps('name')} />
      </SettingsForm>
    </Card>
  )
}

type SignInValues = { email: string; password: string; current_password: string }

function SignInCard() {
  const user = useUser()
  const update = useUpdateSelf('Your sign-in is changed.')
  const form = useForm<SignInValues>({
    initialValues: { email: user.email ?? '', password: '', current_password: '' },
    validate: {
      email: (email) => (email.trim() === '' ? 'Type your e-mail.' : null),
      password: (password) => (password === '' && !user.has_password ? 'Choose a password.' : null),
    },
  })
  const submit = ({ email, password, current_password }: SignInValues): void =>
    update.mutate(
      {
        ...(email.trim() !== (user.email ?? '') && { email }),
        ...(password !== '' && { password }),
        ...(user.has_password && { current_password }),
      },
      {
        onSuccess: () => {
          form.setValues({ password: '', current_password: '' })
          form.resetDirty({ email, password: '', current_password: '' })
        },
        onError: (error) => form.setErrors(fieldErrors(error)),
      },
    )
  return (
    <Card
      title="Sign-in"
      about={
        user.has_password
          ? 'Changing either needs your present password.'
          : 'You have no password yet. With one you can come back without a one-time link.'
      }
    >
      <form noValidate onSubmit={form.onSubmit(submit)}>
        <Stack gap="md">
          <TextInput label="E-mail" type="email" autoComplete="username" {...form.getInputProps('email')} />
          <PasswordInput
            label={user.has_password ? 'New password' : 'Password'}
            description={user.has_password ? 'Leave it empty to keep the one you have.' : 'At least 10 characters.'}
            autoComplete="new-password"
            visibilityToggleButtonProps={{ 'aria-label': 'Show the password' }}
            {...form.getInputProps('password')}
          />
          {user.has_password && (
            <PasswordInput
              label="Present password"
              autoComplete="current-password"
              visibilityToggleButtonProps={{ 'aria-label': 'Show the present password' }}
              {...form.getInputProps('current_password')}
            />
          )}
          <RefusalNotice error={update.error} fields={['email', 'password', 'current_password']} />
          <Group justify="flex-end">
            <Button
              type="submit"
              variant={user.has_password ? 'default' : 'filled'}
              disabled={!form.isDirty()}
              loading={update.isPending}
            >
              {user.has_password ? 'Save sign-in' : 'Set e-mail and password'}
            </Button>
          </Group>
        </Stack>
      </form>
    </Card>
  )
}

function AppearanceCard() {
  const { colorScheme, setColorScheme } = useMantineColorScheme()
  return (
    <Card title="Appearance" about="Kept in this browser.">
      <SegmentedControl
        aria-label="Appearance"
        value={colorScheme}
        onChange={(value) => setColorScheme(value)}
        data={schemes.map(({ value, label }) => ({ value, label }))}
      />
    </Card>
  )
}
