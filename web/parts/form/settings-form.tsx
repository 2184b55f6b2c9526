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
  /** One field with its button beside it. */
  isShort?: boolean
  children: ReactNode
}

/** Settings in a card: saved when they differ, and left open with the reason when they are refused. */
export function SettingsForm<Values extends object>({
  form,
  act,
  verb,
  locked,
  isShort = false,
  children,
}: Props<Values>) {
  const button = (
    <Button type="submit" variant="default" disabled={!form.isDirty()} loading={act.isPending}>
      {verb}
    </Button>
  )
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
        {isShort ? (
          <Group gap="sm" align="flex-start">
            {children}
            {button}
          </Group>
        ) : (
          children
        )}
        <RefusalNotice error={act.error} fields={Object.keys(form.values)} />
        {locked !== undefined && <Text c="dimmed">{locked}</Text>}
        {locked === undefined && !isShort && <Group>{button}</Group>}
      </Stack>
    </form>
  )
}
