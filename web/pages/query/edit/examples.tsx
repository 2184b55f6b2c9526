import { ActionIcon, Button, Code, Group, Stack, Text, Title, TextInput } from '@mantine/core'
import { Plus, X } from 'lucide-react'
import { useState } from 'react'
import type { Project } from '../../../client/wire.ts'
import { sayValue } from '../../../text/words.ts'
import { Tried } from './ask-it.tsx'
import { ExampleValues } from './example-values.tsx'
import classes from './query.module.css'
import { missingIn, valuesOf } from '../slots/slots.ts'
import type { Content } from '../draft/content.ts'
import type { QueryDraft } from '../draft/use-query-draft.ts'

type Example = Content['examples'][number]

/** Questions that this query answers, each with the values it should give: what routing learns from. */
export function Examples({ project, name, draft }: { project: Project; name: string; draft: QueryDraft }) {
  const { content, change, editor } = draft
  const { examples } = content
  const put = (index: number, next: Example | null): void =>
    change({ examples: examples.flatMap((each, at) => (at !== index ? [each] : next === null ? [] : [next])) })
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
      {editor && <NewExample project={project} name={name} draft={draft} />}
    </Stack>
  )
}

/** A question to ask of the draft, or to add with the values that are read from it. */
function NewExample({ project, name, draft }: { project: Project; name: string; draft: QueryDraft }) {
  const { ask, read } = draft
  const [question, setQuestion] = useState('')
  const propose = (): void => {
    if (question.trim() !== '') read.mutate(question.trim())
  }
  return (
    <>
      <Group gap="xs">
        <TextInput
          flex="1 1 100%"
          aria-label="Another question"
          spellCheck
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
      {read.data !== undefined && (
        <Proposed
          key={read.data.question}
          project={project}
          draft={draft}
          proposed={read.data}
          onAdd={(example) => {
            draft.change({ examples: [...draft.content.examples, example] })
            read.reset()
            setQuestion('')
          }}
          onLeave={() => read.reset()}
        />
      )}
      <Tried name={name} tried={ask.data} error={ask.error} />
      {draft.dirty && ask.data !== undefined && (
        <Text size="xs" c="dimmed">
          Asked of the draft as it is saved.
        </Text>
      )}
    </>
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
  const { content, editor } = draft
  return (
    <div className={classes.example}>
      <Group gap="xs" wrap="nowrap">
        <TextInput
          flex={1}
          aria-label={`Question ${number}`}
          spellCheck
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
      <ValuesLine draft={draft} example={example} number={number} open={open} onOpen={setOpen} />
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

type ValuesProps = Pick<LineProps, 'draft' | 'example' | 'number'> & { open: boolean; onOpen: (open: boolean) => void }

/** The values of an example, and what may be done with them. */
function ValuesLine({ draft: { content, editor, setValues }, example, number, open, onOpen }: ValuesProps) {
  const hasSlots = Object.keys(content.slots.properties).length > 0
  const missing = missingIn(content.slots, example.parameters)
  return (
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
          onClick={() => onOpen(!open)}
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
  )
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
