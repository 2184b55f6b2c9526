import {
  Button,
  Code,
  Group,
  Input,
  NumberInput,
  Paper,
  Select,
  SimpleGrid,
  Stack,
  Switch,
  Text,
  Textarea,
  TextInput,
} from '@mantine/core'
import { Plus } from 'lucide-react'
import { methodsWithBody, type Draft } from './draft.ts'
import { mostSteps, withStep, type StepDraft } from './steps.ts'
import classes from './connection.module.css'

type Props = { draft: Draft; onChange: (part: Partial<Draft>) => void; disabled: boolean }

const methods = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE']

/** Requests behind the one of the connection: an export is started, waited for and downloaded. */
export function StepFields({ draft: { steps }, onChange, disabled }: Props) {
  const change = (id: number, part: Partial<StepDraft>): void =>
    onChange({ steps: steps.map((step) => (step.id === id ? { ...step, ...part } : step)) })
  return (
    <Stack gap="sm">
      <Input.Label labelElement="div">Export</Input.Label>
      <Text size="xs" c="dimmed">
        For what an API makes first: the request above starts it, a step waits until it is ready, the last step brings
        the rows.
        {steps.length > 0 && (
          <>
            {' '}
            <Code>{'{{start:id}}'}</Code> is a value of the first answer, <Code>{'{{answer:url}}'}</Code> of the one
            before.
          </>
        )}
      </Text>
      {steps.map((step, index) => (
        <Paper key={step.id} p="sm" radius="md" bd="1px solid var(--sluice-line)" bg="transparent">
          <Group justify="space-between" mb="xs">
            <Text size="xs" c="dimmed">
              {index === steps.length - 1 ? `Step ${index + 1}: brings the rows` : `Step ${index + 1}`}
            </Text>
            {!disabled && (
              <Button
                size="compact-xs"
                variant="subtle"
                color="gray"
                aria-label={`Remove step ${index + 1}`}
                onClick={() => onChange({ steps: steps.filter(({ id }) => id !== step.id) })}
              >
                Remove
              </Button>
            )}
          </Group>
          <OneStep
            number={index + 1}
            step={step}
            isLast={index === steps.length - 1}
            disabled={disabled}
            onChange={(part) => change(step.id, part)}
          />
        </Paper>
      ))}
      {!disabled && steps.length < mostSteps && (
        <Button
          variant="subtle"
          size="xs"
          leftSection={<Plus size={14} aria-hidden />}
          onClick={() => onChange({ steps: withStep(steps) })}
          style={{ alignSelf: 'flex-start' }}
        >
          {steps.length === 0 ? 'Wait for an export' : 'Add a step'}
        </Button>
      )}
    </Stack>
  )
}

type OneProps = {
  number: number
  step: StepDraft
  /** It brings the rows, and so cannot wait. */
  isLast: boolean
  disabled: boolean
  onChange: (part: Partial<StepDraft>) => void
}

function OneStep({ number, step, isLast, disabled, onChange }: OneProps) {
  return (
    <Stack gap="xs">
      <Group gap="xs" wrap="nowrap" align="flex-end">
        <Select
          aria-label={`Method of step ${number}`}
          w="6.5rem"
          data={methods}
          value={step.method}
          disabled={disabled}
          onChange={(method) => onChange({ method: method ?? 'GET' })}
        />
        <TextInput
          aria-label={`Address of step ${number}`}
          placeholder={isLast ? '{{answer:url}}' : '/exports/{{start:id}}'}
          flex={1}
          classNames={{ input: classes.code ?? '' }}
          value={step.url}
          disabled={disabled}
          onChange={(event) => onChange({ url: event.currentTarget.value })}
        />
      </Group>
      {(!isLast || step.waits) && (
        <Switch
          size="xs"
          label="Repeat until it is ready"
          checked={step.waits}
          disabled={disabled}
          onChange={(event) => onChange({ waits: event.currentTarget.checked })}
        />
      )}
      {step.waits && <WaitFields number={number} step={step} disabled={disabled} onChange={onChange} />}
      <Textarea
        label="Headers"
        description="One name=value a line. Those of the connection go along to the same host."
        size="xs"
        autosize
        minRows={1}
        maxRows={6}
        spellCheck={false}
        classNames={{ input: classes.code ?? '' }}
        value={step.headers}
        disabled={disabled}
        onChange={(event) => onChange({ headers: event.currentTarget.value })}
      />
      {methodsWithBody.has(step.method) && (
        <Textarea
          label={`Body (${step.bodyType})`}
          size="xs"
          autosize
          minRows={2}
          maxRows={10}
          spellCheck={false}
          classNames={{ input: classes.code ?? '' }}
          value={step.body}
          disabled={disabled}
          onChange={(event) => onChange({ body: event.currentTarget.value })}
        />
      )}
    </Stack>
  )
}

function WaitFields({ step, disabled, onChange }: Omit<OneProps, 'isLast'>) {
  const text = (name: 'path' | 'is' | 'fails', label: string, placeholder: string) => (
    <TextInput
      label={label}
      placeholder={placeholder}
      size="xs"
      value={step[name]}
      disabled={disabled}
      onChange={(event) => onChange({ [name]: event.currentTarget.value })}
    />
  )
  return (
    <SimpleGrid cols={{ base: 1, sm: 2 }} spacing="xs">
      {text('path', 'Where the answer says it', 'status; empty: while it answers 202')}
      <NumberInput
        label="Ask every (seconds)"
        size="xs"
        min={1}
        max={3_600}
        allowDecimal={false}
        value={step.everySeconds}
        disabled={disabled}
        onChange={(every) => onChange({ everySeconds: Number(every) || 1 })}
      />
      {text('is', 'Ready when it is', 'done, completed')}
      {text('fails', 'Failed when it is', 'failed, expired')}
    </SimpleGrid>
  )
}
