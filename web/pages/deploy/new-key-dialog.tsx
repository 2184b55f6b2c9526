import { ActionIcon, Button, Group, Modal, Select, Stack, Text, TextInput } from '@mantine/core'
import { useForm } from '@mantine/form'
import { Plus, Trash2 } from 'lucide-react'
import { call } from '../../api.ts'
import { RefusalNotice } from '../../parts/refusal.tsx'
import { SecretBox } from '../../parts/secret-box.tsx'
import { useAct } from '../../queries.ts'
import { fieldErrors } from '../../refusals.ts'
import type { Project } from '../../wire.ts'
import classes from './keys.module.css'
import { PermissionsForm, permissionsOf, type Granted } from './permissions-form.tsx'
import { deployKeys, usePlans } from './queries.ts'
import type { CreatedApiKey, NewApiKey, Plan } from './wire.ts'

type Props = { project: Project; opened: boolean; onClose: () => void }

const lifetimes = [
  { value: '30', label: '30 days' },
  { value: '90', label: '90 days' },
  { value: '365', label: 'One year' },
  { value: '', label: 'No end' },
]

/** First what it reaches, then the secret, which is not shown again. */
export function NewKeyDialog({ project, opened, onClose }: Props) {
  const create = useAct((body: NewApiKey) => call<CreatedApiKey>('POST', '/v1/api-keys', { body }), {
    refresh: [deployKeys.apiKeys],
  })
  const made = create.data
  const close = (): void => {
    create.reset()
    onClose()
  }
  return (
    <Modal
      opened={opened}
      onClose={close}
      size="40rem"
      title={made === undefined ? 'New API key' : `API key ${made.name}`}
      // A stray click must not lose the secret.
      closeOnClickOutside={made === undefined}
      closeOnEscape={made === undefined}
      withCloseButton={made === undefined}
    >
      {made === undefined ? (
        <NewKeyForm project={project} create={create} onClose={close} />
      ) : (
        <SecretBox label="API key" secret={made.secret} onStored={close}>
          Send it as <code>Authorization: Bearer …</code> from a server of yours. Keep it out of pages and repositories:
          whoever has it calls what it reaches.
        </SecretBox>
      )}
    </Modal>
  )
}

type Fixed = { name: string; value: string }
type Values = { name: string; lifetimeDays: string; plan: string; granted: Granted; fixed: Fixed[] }
type Create = ReturnType<typeof useAct<CreatedApiKey, NewApiKey>>

function NewKeyForm({ project, create, onClose }: { project: Project; create: Create; onClose: () => void }) {
  const plans = usePlans()
  const form = useForm<Values>({
    initialValues: {
      name: '',
      lifetimeDays: '',
      plan: '',
      granted: { [project.id]: { environments: ['production'], queries: null } },
      fixed: [],
    },
    validate: {
      name: (name) => (name.trim() === '' ? 'Name it after what will call with it.' : null),
      granted: whyNothing,
    },
  })
  const usual = plans.data?.find((plan) => plan.default)?.name ?? ''
  return (
    <form
      noValidate
      onSubmit={form.onSubmit((values) =>
        create.mutate(bodyOf(values), { onError: (error) => form.setErrors(fieldErrors(error)) }),
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
        <div>
          <PermissionsForm
            granted={form.values.granted}
            onChange={(granted) => form.setFieldValue('granted', granted)}
          />
          {form.errors['granted'] !== undefined && (
            <Text c="var(--mantine-color-error)" size="xs" mt={4} role="alert">
              {form.errors['granted']}
            </Text>
          )}
        </div>
        <Group grow align="flex-start">
          <Select label="It is good for" data={lifetimes} {...form.getInputProps('lifetimeDays')} />
          <Select
            label="Plan"
            data={(plans.data ?? []).map((plan) => ({ value: plan.name, label: sayLimits(plan) }))}
            {...form.getInputProps('plan')}
            value={form.values.plan === '' ? usual : form.values.plan}
          />
        </Group>
        <FixedParameters fixed={form.values.fixed} onChange={(fixed) => form.setFieldValue('fixed', fixed)} />
        <RefusalNotice error={create.error} fields={['name', 'plan']} />
        <Group justify="flex-end" gap="sm">
          <Button variant="default" onClick={onClose}>
            Cancel
          </Button>
          <Button type="submit" loading={create.isPending}>
            Create key
          </Button>
        </Group>
      </Stack>
    </form>
  )
}

/** Slots whose value the key decides: a caller of one branch sees that branch only. */
function FixedParameters({ fixed, onChange }: { fixed: Fixed[]; onChange: (fixed: Fixed[]) => void }) {
  const change = (at: number, part: Partial<Fixed>): void =>
    onChange(fixed.map((each, index) => (index === at ? { ...each, ...part } : each)))
  return (
    <Stack gap="xs">
      <div>
        <Text fw={500}>Fixed parameters</Text>
        <Text size="xs" c="dimmed">
          Slots whose value this key decides. Its callers cannot send another.
        </Text>
      </div>
      {fixed.map(({ name, value }, at) => (
        // Lines have no name of their own until one is typed.
        // oxlint-disable-next-line react/no-array-index-key
        <div key={at} className={classes['pair']}>
          <TextInput
            aria-label={`Slot ${at + 1}`}
            placeholder="region"
            spellCheck={false}
            value={name}
            onChange={(event) => change(at, { name: event.currentTarget.value })}
          />
          <TextInput
            aria-label={`Value of slot ${at + 1}`}
            placeholder="north"
            value={value}
            onChange={(event) => change(at, { value: event.currentTarget.value })}
          />
          <ActionIcon
            variant="subtle"
            color="gray"
            aria-label={`Remove slot ${at + 1}`}
            onClick={() => onChange(fixed.filter((_, index) => index !== at))}
          >
            <Trash2 size={15} aria-hidden />
          </ActionIcon>
        </div>
      ))}
      <Group>
        <Button
          variant="default"
          size="xs"
          leftSection={<Plus size={14} aria-hidden />}
          onClick={() => onChange([...fixed, { name: '', value: '' }])}
        >
          Fix a slot
        </Button>
      </Group>
    </Stack>
  )
}

function whyNothing(granted: Granted): string | null {
  const lines = Object.values(granted)
  if (lines.length === 0) return 'Tick at least one project.'
  if (lines.some(({ environments }) => environments?.length === 0)) return 'Tick at least one environment.'
  return lines.some(({ queries }) => queries?.length === 0) ? 'Tick at least one query.' : null
}

function bodyOf({ name, lifetimeDays, plan, granted, fixed }: Values): NewApiKey {
  const parameters = fixed
    .filter((each) => each.name.trim() !== '')
    .map((each) => [each.name.trim(), readFixed(each.value)])
  return {
    name,
    permissions: permissionsOf(granted),
    ...(plan !== '' && { plan }),
    ...(lifetimeDays !== '' && { expires_at: new Date(Date.now() + Number(lifetimeDays) * 86_400_000).toISOString() }),
    ...(parameters.length > 0 && { fixed_parameters: Object.fromEntries(parameters) }),
  }
}

/** Numbers, true and false as such, and lists as JSON; all else is text. */
function readFixed(text: string): string | number | boolean | Array<string | number | boolean> {
  try {
    const value: unknown = JSON.parse(text)
    if (typeof value === 'number' || typeof value === 'boolean' || Array.isArray(value)) return value
  } catch {
    // Most values are words, which are no JSON.
  }
  return text
}

function sayLimits({ name, per_minute: perMinute, per_day: perDay }: Plan): string {
  const limits = [
    perMinute === null ? '' : `${perMinute.toLocaleString('en')}/min`,
    perDay === null ? '' : `${perDay.toLocaleString('en')}/day`,
  ].filter((each) => each !== '')
  return `${name} (${limits.length === 0 ? 'no limit' : limits.join(', ')})`
}
