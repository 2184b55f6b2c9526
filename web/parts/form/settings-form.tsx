import { Button, Group, Stack, Text } from '@mantine/core'
import type { UseFormReturnType } from '@mantine/form'
import type { ReactNode } from 'react'
import { fieldErrors } from '../../client/refusals.ts'
import { RefusalNotice } from '../text/refusal.tsx'

type Props<Values> = {
  form: UseFormReturnType<Values>
  act: {
    mutate: (values: Values, then: { onSuccess: () => void; onError: (error: Error) => void }) => void
    error: Error | null
    isPending: boolean
  }
  verb: string
  /** Why it cannot be changed, for those who may not. */
  locked?: string | undefined
  children: ReactNode
}

/** Settings in a card: saved when they differ, and left open with the reason when they are refused. */
export function SettingsForm<Values extends object>({ form, act, verb, locked, children }: Props<Values>) {
  return (
    <form
      noValidate
      onSubmit={form.onSubmit((values) =>
        act.mutate(values, {
          onSuccess: () => form.resetDirty(),
          onError: (error) => form.setErrors(fieldErrors(error)),
        }),
      )}
    >
      <Stack gap="md">
        {children}
        <RefusalNotice error={act.error} fields={Object.keys(form.values)} />
        {locked === undefined ? (
          <Group>
            <Button type="submit" variant="default" disabled={!form.isDirty()} loading={act.isPending}>
              {verb}
            </Button>
          </Group>
        ) : (
          <Text c="dimmed">{locked}</Text>
        )}
      </Stack>
    </form>
  )
}
