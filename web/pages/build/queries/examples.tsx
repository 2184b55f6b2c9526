import { ActionIcon, Button, Code, Group, Stack, Text, TextInput } from '@mantine/core'
import { Plus, X } from 'lucide-react'
import { useState } from 'react'
import { sayValue } from '../../../words.ts'
import { Tried } from './ask-it.tsx'
import classes from './query.module.css'
import { parametersOf, valuesOf } from './slots.ts'
import type { QueryDraft } from './use-query-draft.ts'

/** Questions that this query answers, each with the values it should give: what routing learns from. */
export function Examples({ name, draft }: { name: string; draft: QueryDraft }) {
  const { content, change, values, setValues, editor, ask } = draft
  const [question, setQuestion] = useState('')
  const { examples } = content
  const add = (): void => {
    if (question.trim() === '') return
    change({ examples: [...examples, { question: question.trim(), parameters: parametersOf(content.slots, values) }] })
    setQuestion('')
  }
  return (
    <Stack gap="sm">
      <div>
        <Text fw={600}>Example questions</Text>
        <Text size="xs" c="dimmed">
          How people ask for it, with the values the slots should then have.
        </Text>
      </div>
      {examples.map((example, index) => (
        // oxlint-disable-next-line react/no-array-index-key -- a question may stand there twice while it is edited
        <div key={index} className={classes.example}>
          <Group gap="xs" wrap="nowrap">
            <TextInput
              flex={1}
              aria-label={`Question ${index + 1}`}
              value={example.question}
              disabled={!editor}
              onChange={(event) => {
                const words = event.currentTarget.value
                change({ examples: examples.map((each, at) => (at === index ? { ...each, question: words } : each)) })
              }}
            />
            {editor && (
              <ActionIcon
                variant="subtle"
                color="gray"
                aria-label={`Remove question ${index + 1}`}
                onClick={() => change({ examples: examples.filter((_, at) => at !== index) })}
              >
                <X size={14} aria-hidden />
              </ActionIcon>
            )}
          </Group>
          <Group gap={6}>
            {Object.entries(example.parameters).map(([name, value]) => (
              <Code key={name}>
                {name} = {sayValue(value)}
              </Code>
            ))}
            {editor && Object.keys(example.parameters).length > 0 && (
              <Button variant="subtle" size="compact-xs" onClick={() => setValues(valuesOf(example.parameters))}>
                Try these values
              </Button>
            )}
          </Group>
        </div>
      ))}
      {editor && (
        <Group gap="xs">
          <TextInput
            flex="1 1 100%"
            aria-label="Another question"
            placeholder="revenue in the north since March"
            value={question}
            onChange={(event) => setQuestion(event.currentTarget.value)}
            onKeyDown={(event) => event.key === 'Enter' && add()}
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
            onClick={add}
          >
            Add with the values above
          </Button>
        </Group>
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
