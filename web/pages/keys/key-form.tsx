import { Group, NumberInput, Select, Stack, TagsInput, Text, TextInput } from '@mantine/core'
import { useForm, type UseFormReturnType } from '@mantine/form'
import type { UseMutationResult } from '@tanstack/react-query'
import { lifetimes } from '../../parts/form/lifetimes.ts'
import { ActForm } from '../../parts/form/act-form.tsx'
import { fieldErrors } from '../../client/refusals.ts'
import { FixedParameters } from './fixed-parameters.tsx'
import { PermissionsForm } from './permissions-form.tsx'
import { whyNothing } from './granted.ts'
import { asItIs, type KeyValues } from './key-values.ts'
import classes from './keys.module.css'
import { usePlans } from '../deploy/shared/queries.ts'
import type { Plan } from '../deploy/shared/wire.ts'

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
      perMinute: (perMinute, { burst }) => (perMinute === '' && burst !== '' ? 'Say how many a minute as well.' : null),
    },
  })
  const usual = plans.data?.find((plan) => plan.default)?.name ?? ''
  const ends = initial.lifetimeDays === asItIs ? [{ value: asItIs, label: 'As long as now' }, ...lifetimes] : lifetimes
  const { granted } = form.values
  return (
    <ActForm
      gap="lg"
      onSubmit={form.onSubmit((values) =>
        act.mutate(values, {
          onSuccess: () => onDone?.(),
          onError: (error) => form.setErrors(placed(fieldErrors(error))),
        }),
      )}
      act={act}
      fields={Object.keys(fieldOf)}
      verb={verb}
      onClose={onClose}
    >
      <TextInput
        label="Name"
        description="What will call with it, for example the mobile app."
        data-autofocus
        {...form.getInputProps('name')}
      />
      <TagsInput
        label="Tags"
        description="Words to find it by, for example a team or an application."
        maxTags={10}
        {...form.getInputProps('tags')}
      />
      {granted === null ? (
        <Text c="dimmed">
          Its access was set through the API with more rules than can be shown here, and stays as it is.
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
        <Select label="Expires" data={ends} {...form.getInputProps('lifetimeDays')} />
        <Select
          label="Plan"
          data={(plans.data ?? [])
            .filter((plan) => plan.grantable || plan.name === form.values.plan)
            .map((plan) => ({ value: plan.name, label: sayLimits(plan) }))}
          {...form.getInputProps('plan')}
          value={form.values.plan === '' ? usual : form.values.plan}
        />
      </Group>
      <OwnLimits form={form} />
      <FixedParameters fixed={form.values.fixed} onChange={(fixed) => form.setFieldValue('fixed', fixed)} />
    </ActForm>
  )
}

const ownLimits = [
  { field: 'perMinute', label: 'Calls a minute', placeholder: 'as the plan', most: 1_000_000 },
  { field: 'burst', label: 'Burst', placeholder: 'a minute’s worth', most: 1_000_000 },
  { field: 'perDay', label: 'Calls a day', placeholder: 'as the plan', most: 1_000_000_000 },
] as const

/** For a caller that the plans do not fit. */
function OwnLimits({ form }: { form: UseFormReturnType<KeyValues> }) {
  return (
    <Stack gap="xs">
      <div>
        <Text fw={600}>Limits of its own</Text>
        <Text size="xs" c="dimmed">
          Instead of the plan’s. What is empty is as the plan says.
        </Text>
      </div>
      <div className={classes['limits']}>
        {ownLimits.map(({ field, label, placeholder, most }) => (
          <NumberInput
            key={field}
            label={label}
            placeholder={placeholder}
            thousandSeparator=","
            allowDecimal={false}
            min={1}
            max={most}
            {...form.getInputProps(field)}
          />
        ))}
      </div>
    </Stack>
  )
}

/** The API's names of the fields, and the form's. */
const fieldOf: Record<string, keyof KeyValues> = {
  name: 'name',
  plan: 'plan',
  'rate_limit.per_minute': 'perMinute',
  'rate_limit.burst': 'burst',
  daily_quota: 'perDay',
  tags: 'tags',
}

function placed(errors: Record<string, string>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(errors).map(([field, sentence]) => [fieldOf[field.replace(/^tags\..*/, 'tags')] ?? field, sentence]),
  )
}

function sayLimits({ name, per_minute: perMinute, per_day: perDay }: Plan): string {
  const limits = [
    perMinute === null ? '' : `${perMinute.toLocaleString('en')} a minute`,
    perDay === null ? '' : `${perDay.toLocaleString('en')} a day`,
  ].filter((each) => each !== '')
  return `${name} (${limits.length === 0 ? 'no limit' : limits.join(', ')})`
}
