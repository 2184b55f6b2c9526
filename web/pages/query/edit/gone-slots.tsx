import { Button, Code, Group, Text } from '@mantine/core'
import { useState } from 'react'
import { sayCount } from '../../../text/words.ts'
import type { Content } from '../draft/content.ts'
import type { QueryDraft } from '../draft/use-query-draft.ts'
import classes from './query.module.css'

/** Examples that still give a value to a slot that the SQL no longer has: saving is refused until they leave it. */
export function GoneSlots({ draft: { content, change, inspection } }: { draft: QueryDraft }) {
  const [mended, setMended] = useState<{ says: string; before: Content['examples'] } | null>(null)
  const gone = [
    ...new Set(
      content.examples.flatMap(({ parameters }) =>
        Object.keys(parameters).filter((slot) => !Object.hasOwn(content.slots.properties, slot)),
      ),
    ),
  ]
  // A slot that is being typed is not gone yet.
  const isKnown = inspection.isSuccess && !inspection.isPlaceholderData
  if (gone.length > 0 && isKnown) {
    const uses = content.examples.filter(({ parameters }) => gone.some((slot) => Object.hasOwn(parameters, slot)))
    return (
      <Line>
        <Text size="sm">
          {sayCount(uses.length, 'example')} still {uses.length === 1 ? 'uses' : 'use'}{' '}
          {gone.map((slot) => (
            <Code key={slot} mr={4}>
              {slot}
            </Code>
          ))}
        </Text>
        <Button
          variant="default"
          size="compact-sm"
          onClick={() => {
            setMended({
              says: `Removed ${gone.join(', ')} from ${sayCount(uses.length, 'example')}.`,
              before: content.examples,
            })
            change({ examples: content.examples.map((each) => without(each, gone)) })
          }}
        >
          Remove it
        </Button>
      </Line>
    )
  }
  if (mended === null) return null
  return (
    <Line>
      <Text size="sm">{mended.says}</Text>
      <Button
        variant="default"
        size="compact-sm"
        onClick={() => {
          change({ examples: mended.before })
          setMended(null)
        }}
      >
        Undo
      </Button>
    </Line>
  )
}

function Line({ children }: { children: React.ReactNode }) {
  return (
    <Group gap="sm" className={classes.notice ?? ''} component="output">
      {children}
    </Group>
  )
}

function without(example: Content['examples'][number], gone: string[]): Content['examples'][number] {
  const left = Object.entries(example.parameters).filter(([name]) => !gone.includes(name))
  return { ...example, parameters: Object.fromEntries(left) }
}
