import { ActionIcon, Button, Code, Group, Stack, Text, Title, TextInput } from '@mantine/core'
import { Plus, X } from 'lucide-react'
import { useState } from 'react'
import type { Project } from '../../../client/wire.ts'
import { sayValue } from '../../../text/words.ts'
import { Tried } from './ask-it.tsx'
import { ExampleValues } from './example-values.tsx'
import classes from './query.module.css'
import { missingIn, valuesOf } from './slots/slots.ts'
import type { Content, QueryDraft } from './draft/use-query-draft.ts'

type Example = Content['examples'][number]

/** Questions that this query answers, each with the values it should give: what routing learns from. */
export function Examples({ project, name, draft }: { project: Project; name: string; draft: QueryDraft }) {
  const { content, change, editor, ask, read } = draft
  const [question, setQuestion] = useState('')
  const { examples } = content
  const put = (index: number, next: Example | null): void =>
    change({ examples: examples.flatMap((each, at) => (at !== index ? [each] : next === null ? [] : [next])) })
  const propose = (): void => {
    if (question.trim() !== '') read.mutate(question.trim())
  }
  return (
    <Stack gap="sm">
      <div>
        <Title order={2}>Example questions</Title>
        <Text size="xs" c="dimmed">
          How people ask for it, with the values the slots should then have.
        </Text>
      </div>
      {examples.map((example, index) => (
        <ExampleLine
          // oxlint-disable-next-line react/no-array-index-key -- a question may stand there twice while it is edited
          key={index}
          project={project}
          draft={draft}
          example={example}
          number={index + 1}
          onChange={(next) => put(index, next)}
        />
      ))}
      {editor && (
        <Group gap="xs">
          <TextInput
            flex="1 1 100%"
            aria-label="Another question"
            placeholder="revenue in the north since March"
            value={question}
            onChange={(event) => setQuestion(event.currentTarget.value)}
            onKeyDown={(event) => event.key === 'Enter' && propose()}
          />
          <Button
            variant="default"
            disabled={question.trim() === ''}
            loading={ask.isPending}
            onClick={() => ask.mutate(question)}
          >
            Ask it
          </Button>
          <Button
            variant="default"
            leftSection={<Plus size={14} aria-hidden />}
            disabled={question.trim() === ''}
            loading={read.isPending}
            onClick={propose}
          >
            Add as an example…
          </Button>
        </Group>
      )}
      {editor && read.data !== undefined && (
        <Proposed
          key={read.data.question}
          project={project}
          draft={draft}
          proposed={read.data}
          onAdd={(example) => {
            change({ examples: [...examples, example] })
            read.reset()
            setQuestion('')
          }}
          onLeave={() => read.reset()}
        />
      )}
      {editor && <Tried name={name} tried={ask.data} error={ask.error} />}
      {editor && draft.dirty && ask.data !== undefined && (
        <Text size="xs" c="dimmed">
          Asked of the draft as it is saved.
        </Text>
      )}
    </Stack>
  )
}

type LineProps = {
  project: Project
  draft: QueryDraft
  example: Example
  number: number
  onChange: (next: Example | null) => void
}

function ExampleLine({ project, draft, example, number, onChange }: LineProps) {
  const [open, setOpen] = useState(false)
  const { content, editor, setValues } = draft
  const hasSlots = Object.keys(content.slots.properties).length > 0
  const missing = missingIn(content.slots, example.parameters)
  const gone = Object.keys(example.parameters).filter((slot) => !Object.hasOwn(content.slots.properties, slot))
  return (
    <div className={classes.example}>
      <Group gap="xs" wrap="nowrap">
        <TextInput
          flex={1}
          aria-label={`Question ${number}`}
          value={example.question}
          disabled={!editor}
          onChange={(event) => onChange({ ...example, question: event.currentTarget.value })}
        />
        {editor && (
          <ActionIcon
            variant="subtle"
            color="gray"
            aria-label={`Remove question ${number}`}
            onClick={() => onChange(null)}
          >
            <X size={14} aria-hidden />
          </ActionIcon>
        )}
      </Group>
      <Group gap={6}>
        {Object.entries(example.parameters).map(([slot, value]) => (
          <Code key={slot}>
            {slot} = {sayValue(value)}
          </Code>
        ))}
        {missing.length > 0 && (
          <Text size="xs" c="var(--sluice-danger)">
            {missing.join(', ')} {missing.length === 1 ? 'has' : 'have'} no value
          </Text>
        )}
        {editor && hasSlots && (
          <Button
            variant="subtle"
            size="compact-xs"
            aria-expanded={open}
            aria-label={open ? `Done with question ${number}` : `Edit values of question ${number}`}
            onClick={() => setOpen(!open)}
          >
            {open ? 'Done' : 'Edit values'}
          </Button>
        )}
        {editor && Object.keys(example.parameters).length > 0 && (
          <Button
            variant="subtle"
            size="compact-xs"
            aria-label={`Try these values of question ${number}`}
            onClick={() => setValues(valuesOf(example.parameters))}
          >
            Try these values
          </Button>
        )}
      </Group>
      {editor &&
        gone.map((slot) => (
          <Group key={slot} gap="xs">
            <Text size="xs" c="var(--sluice-danger)">
              Example {number} still uses <Code>{slot}</Code>.
            </Text>
            <Button
              variant="default"
              size="compact-xs"
              aria-label={`Remove ${slot} from question ${number}`}
              onClick={() => onChange({ ...example, parameters: without(example.parameters, slot) })}
            >
              Remove it
            </Button>
          </Group>
        ))}
      {open && (
        <ExampleValues
          project={project}
          slots={content.slots}
          parameters={example.parameters}
          onChange={(parameters) => onChange({ ...example, parameters })}
        />
      )}
    </div>
  )
}

function without(parameters: Example['parameters'], slot: string): Example['parameters'] {
  return Object.fromEntries(Object.entries(parameters).filter(([name]) => name !== slot))
}

type ProposedProps = {
  project: Project
  draft: QueryDraft
  proposed: Example
  onAdd: (example: Example) => void
  onLeave: () => void
}

/** The values read from the question, to be put right before it teaches anything. */
function Proposed({ project, draft: { content }, proposed, onAdd, onLeave }: ProposedProps) {
  const [parameters, setParameters] = useState(proposed.parameters)
  const missing = missingIn(content.slots, parameters)
  return (
    <section className={classes.proposed} aria-label="New example">
      <Text fw={500}>“{proposed.question}”</Text>
      <Text size="xs" c="dimmed">
        {Object.keys(content.slots.properties).length === 0
          ? 'There are no slots to give values to.'
          : 'These values were read from the question. Put right what is not meant.'}
      </Text>
      <ExampleValues project={project} slots={content.slots} parameters={parameters} onChange={setParameters} />
      <Group gap="xs">
        <Button disabled={missing.length > 0} onClick={() => onAdd({ question: proposed.question, parameters })}>
          Add this example
        </Button>
        <Button variant="default" onClick={onLeave}>
          Leave it
        </Button>
        {missing.length > 0 && (
          <Text size="xs" c="var(--sluice-danger)">
            {missing.join(', ')} {missing.length === 1 ? 'needs a value' : 'need values'}.
          </Text>
        )}
      </Group>
    </section>
  )
}
