import { Group, Select, Stack, Text, TextInput } from '@mantine/core'
import { useForm } from '@mantine/form'
import type { UseMutationResult } from '@tanstack/react-query'
import { endAfter, lifetimes } from '../../parts/lifetimes.ts'
import { FormEnd } from '../../parts/form-end.tsx'
import { fieldErrors } from '../../refusals.ts'
import { FixedParameters, readFixed, showFixed, type Fixed } from './fixed-parameters.tsx'
import { PermissionsForm } from './permissions-form.tsx'
import { grantedOf, permissionsOf, whyNothing, type Granted } from './granted.ts'
import { usePlans } from './queries.ts'
import type { ApiKey, ChangeApiKey, NewApiKey, Plan } from './wire.ts'

/** The end of a key that is changed in other respects. */
const asItIs = 'keep'

/** `granted` is null where a key has permissions that the boxes cannot say: then they stay as they are. */
export type KeyValues = {
  name: string
  lifetimeDays: string
  plan: string
  granted: Granted | null
  fixed: Fixed[]
}

export function emptyKey(projectId: string): KeyValues {
  return {
    name: '',
    lifetimeDays: '',
    plan: '',
    granted: { [projectId]: { environments: ['production'], queries: null } },
    fixed: [],
  }
}

export function valuesOf(key: ApiKey): KeyValues {
  return {
    name: key.name,
    lifetimeDays: key.expires_at === null ? '' : asItIs,
    plan: key.plan,
    granted: grantedOf(key.permissions),
    fixed: showFixed(key.fixed_parameters),
  }
}

type Props<Answer> = {
  initial: KeyValues
  verb: string
  act: UseMutationResult<Answer, Error, KeyValues>
  onDone?: () => void
  onClose: () => void
}

/** All that can be said of a key, when it is made and afterwards. */
export function KeyForm<Answer>({ initial, verb, act, onDone, onClose }: Props<Answer>) {
  const plans = usePlans()
  const form = useForm<KeyValues>({
    initialValues: initial,
    validate: {
      name: (name) => (name.trim() === '' ? 'Name it after what will call with it.' : null),
      granted: (granted) => (granted === null ? null : whyNothing(granted)),
    },
  })
  const usual = plans.data?.find((plan) => plan.default)?.name ?? ''
  const ends = initial.lifetimeDays === asItIs ? [{ value: asItIs, label: 'As long as now' }, ...lifetimes] : lifetimes
  const { granted } = form.values
  return (
    <form
      noValidate
      onSubmit={form.onSubmit((values) =>
        act.mutate(values, {
          onSuccess: () => onDone?.(),
          onError: (error) => form.setErrors(fieldErrors(error)),
        }),
      )}
    >
      <Stack gap="lg">
        <TextInput
          label="Name"
          description="What will call with it, for example the mobile app."
          data-autofocus
          autoComplete="off"
          {...form.getInputProps('name')}
        />
        {granted === null ? (
          <Text c="dimmed">
            What it reaches was set through the API in more lines than can be ticked here; it stays as it is.
          </Text>
        ) : (
          <div>
            <PermissionsForm granted={granted} onChange={(next) => form.setFieldValue('granted', next)} />
            {form.errors['granted'] !== undefined && (
              <Text c="var(--mantine-color-error)" size="xs" mt={4} role="alert">
                {form.errors['granted']}
              </Text>
            )}
          </div>
        )}
        <Group grow align="flex-start">
          <Select label="It is good for" data={ends} {...form.getInputProps('lifetimeDays')} />
          <Select
            label="Plan"
            data={(plans.data ?? []).map((plan) => ({ value: plan.name, label: sayLimits(plan) }))}
            {...form.getInputProps('plan')}
            value={form.values.plan === '' ? usual : form.values.plan}
          />
        </Group>
        <FixedParameters fixed={form.values.fixed} onChange={(fixed) => form.setFieldValue('fixed', fixed)} />
        <FormEnd act={act} fields={['name', 'plan']} verb={verb} onClose={onClose} />
      </Stack>
    </form>
  )
}

export function newKeyOf({ name, lifetimeDays, plan, granted, fixed }: KeyValues): NewApiKey {
  return {
    name,
    permissions: permissionsOf(granted ?? {}),
    ...(plan !== '' && { plan }),
    ...(lifetimeDays !== '' && { expires_at: endAfter(Number(lifetimeDays)) }),
    ...(fixed.length > 0 && { fixed_parameters: readFixed(fixed) }),
  }
}

export function changesOf({ name, lifetimeDays, plan, granted, fixed }: KeyValues): ChangeApiKey {
  return {
    name,
    ...(plan !== '' && { plan }),
    ...(granted !== null && { permissions: permissionsOf(granted) }),
    ...(lifetimeDays !== asItIs && { expires_at: lifetimeDays === '' ? null : endAfter(Number(lifetimeDays)) }),
    fixed_parameters: readFixed(fixed),
  }
}

function sayLimits({ name, per_minute: perMinute, per_day: perDay }: Plan): string {
  const limits = [
    perMinute === null ? '' : `${perMinute.toLocaleString('en')}/min`,
    perDay === null ? '' : `${perDay.toLocaleString('en')}/day`,
  ].filter((each) => each !== '')
  return `${name} (${limits.length === 0 ? 'no limit' : limits.join(', ')})`
}
