import { Accordion, Group, NumberInput, Select, Stack, TextInput } from '@mantine/core'
import { useForm, type UseFormReturnType } from '@mantine/form'
import type { UseMutationResult } from '@tanstack/react-query'
import { ActForm } from '../../../parts/form/act-form.tsx'
import { useEnvironments } from '../../../client/queries.ts'
import { fieldErrors } from '../../../client/refusals.ts'
import { AlertChannels } from './alert-channels.tsx'
import { AlertPreview } from './alert-preview.tsx'
import { alertChoices, kindOf } from './alert-kinds.ts'
import type { AlertValues } from './alert-values.ts'
import type { Place } from '../../deploy/shared/place.ts'
import type { Alert } from '../../deploy/shared/usage-wire.ts'
import { useQueriesOf } from '../../../client/things.ts'

type Props = {
  place: Place
  initial: AlertValues
  verb: string
  act: UseMutationResult<Alert, Error, AlertValues>
  onDone: (alert: Alert) => void
  onClose: () => void
}

/** The form of an alert: what it watches, when it fires and whom it notifies. */
export function AlertForm({ place, initial, verb, act, onDone, onClose }: Props) {
  const form = useForm<AlertValues>({
    initialValues: initial,
    validate: {
      name: (name) => (name.trim() === '' ? 'Give it a name.' : null),
      threshold: (threshold, { type }) =>
        threshold === '' && !kindOf(type).optional && kindOf(type).unit !== null ? 'Say how much is too much.' : null,
      channels: (channels) =>
        channels.some(({ target }) => target.trim() === '') ? 'Say where to tell it, or take the line out.' : null,
    },
  })
  return (
    <ActForm
      onSubmit={form.onSubmit((values) =>
        act.mutate(values, {
          onSuccess: onDone,
          onError: (error) => form.setErrors(placed(fieldErrors(error))),
        }),
      )}
      act={act}
      fields={placedFields(act.error)}
      verb={verb}
      onClose={onClose}
    >
      <Select
        label="Notify when"
        data={alertChoices}
        value={form.values.type}
        onChange={(type) => {
          if (type === null) return
          const chosen = kindOf(type)
          const untouched = form.values.name === kindOf(form.values.type).name || form.values.name.trim() === ''
          form.setValues({
            type: chosen.type,
            threshold: chosen.threshold ?? '',
            resolveThreshold: '',
            ...(untouched && { name: chosen.name }),
          })
        }}
      />
      <TextInput label="Name" {...form.getInputProps('name')} />
      <Limits form={form} />
      <Scope place={place} form={form} />
      <AlertPreview place={place} values={form.values} />
      <AlertChannels
        place={place}
        lines={form.values.channels}
        onChange={(channels) => form.setFieldValue('channels', channels)}
        error={form.errors['channels']}
      />
      <Advanced form={form} />
    </ActForm>
  )
}

type Form = UseFormReturnType<AlertValues>

function Limits({ form }: { form: Form }) {
  const kind = kindOf(form.values.type)
  if (kind.unit === null) return null
  return (
    <Group grow align="flex-start">
      <NumberInput
        label={kind.fires === 'below' ? 'Below' : 'Above'}
        description={kind.unit}
        placeholder={kind.optional ? 'as scheduled' : undefined}
        min={0}
        {...form.getInputProps('threshold')}
      />
      {kind.windowed && (
        <NumberInput
          label="Within"
          description="minutes"
          min={1}
          max={10_080}
          {...form.getInputProps('windowMinutes')}
        />
      )}
    </Group>
  )
}

function Scope({ place: { project }, form }: { place: Place; form: Form }) {
  const environments = useEnvironments(project.id)
  const queries = useQueriesOf(project.id)
  if (!kindOf(form.values.type).scoped) return null
  return (
    <Group grow align="flex-start">
      <Select
        label="Query"
        data={[{ value: '', label: 'Every query' }, ...(queries.data ?? []).map(({ name }) => name)]}
        searchable={(queries.data?.length ?? 0) > 8}
        {...form.getInputProps('query')}
      />
      <Select
        label="Environment"
        data={[{ value: '', label: 'Every environment' }, ...(environments.data ?? []).map(({ name }) => name)]}
        {...form.getInputProps('environment')}
      />
    </Group>
  )
}

/** Settings that most people leave alone. */
function Advanced({ form }: { form: Form }) {
  const kind = kindOf(form.values.type)
  return (
    <Accordion variant="contained" chevronPosition="left">
      <Accordion.Item value="advanced">
        <Accordion.Control>Advanced</Accordion.Control>
        <Accordion.Panel>
          <Stack gap="md">
            <Group grow align="flex-start">
              <NumberInput
                label="Only if bad for"
                description="minutes; 0 fires at once"
                min={0}
                max={1_440}
                {...form.getInputProps('forMinutes')}
              />
              <NumberInput
                label="Remind every"
                description="minutes while it fires"
                placeholder="never"
                min={1}
                max={10_080}
                {...form.getInputProps('remindMinutes')}
              />
            </Group>
            {kind.windowed && (
              <Group grow align="flex-start">
                <NumberInput
                  label={`Resolves ${kind.fires === 'below' ? 'above' : 'below'}`}
                  description={kind.unit}
                  placeholder="the same"
                  min={0}
                  {...form.getInputProps('resolveThreshold')}
                />
                <NumberInput
                  label="Minimum calls"
                  description="fewer fire nothing"
                  min={0}
                  {...form.getInputProps('minRequests')}
                />
              </Group>
            )}
          </Stack>
        </Accordion.Panel>
      </Accordion.Item>
    </Accordion>
  )
}

/** The API's names of the fields, and the form's. */
const fieldOf: Record<string, keyof AlertValues> = {
  name: 'name',
  threshold: 'threshold',
  resolve_threshold: 'resolveThreshold',
  window_minutes: 'windowMinutes',
  for_minutes: 'forMinutes',
  min_requests: 'minRequests',
  remind_minutes: 'remindMinutes',
  environment: 'environment',
  query: 'query',
}

function placed(errors: Record<string, string>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(errors).map(([field, sentence]) =>
      field.startsWith('channels') ? ['channels', sentence] : [fieldOf[field] ?? field, sentence],
    ),
  )
}

/** The fields of a refusal that are shown beside their inputs. */
function placedFields(error: Error | null): string[] {
  const named = error === null ? [] : Object.keys(fieldErrors(error))
  return named.filter((field) => field.startsWith('channels') || Object.hasOwn(fieldOf, field))
}
