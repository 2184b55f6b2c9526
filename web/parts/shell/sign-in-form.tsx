import { Button, PasswordInput, Stack, TextInput } from '@mantine/core'
import { isNotEmpty, useForm } from '@mantine/form'
import { useMutation } from '@tanstack/react-query'
import { call } from '../../client/api.ts'
import { fieldErrors } from '../../client/refusals.ts'
import type { User } from '../../client/wire.ts'
import { RefusalNotice } from '../text/refusal.tsx'

/** E-mail and password. What was typed stays when it is refused. */
export function SignInForm({ email = '', onSignedIn }: { email?: string; onSignedIn: (user: User) => void }) {
  const signIn = useMutation({
    mutationFn: (body: { email: string; password: string }) => call<User>('POST', '/v1/session', { body, open: true }),
  })
  const form = useForm({
    initialValues: { email, password: '' },
    validate: { email: isNotEmpty('Type your e-mail.'), password: isNotEmpty('Type your password.') },
  })
  return (
    <form
      noValidate
      onSubmit={form.onSubmit((values) =>
        signIn.mutate(values, { onSuccess: onSignedIn, onError: (error) => form.setErrors(fieldErrors(error)) }),
      )}
    >
      <Stack gap="md">
        <TextInput
          label="E-mail"
          type="email"
          autoComplete="username"
          data-autofocus={email === '' ? true : undefined}
          {...form.getInputProps('email')}
        />
        <PasswordInput
          label="Password"
          autoComplete="current-password"
          data-autofocus={email === '' ? undefined : true}
          visibilityToggleButtonProps={{ 'aria-label': 'Show the password' }}
          {...form.getInputProps('password')}
        />
        <RefusalNotice error={signIn.error} fields={['email', 'password']} />
        <Button type="submit" loading={signIn.isPending} fullWidth>
          Sign in
        </Button>
      </Stack>
    </form>
  )
}
