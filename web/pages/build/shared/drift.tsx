import { Alert, Code, Text } from '@mantine/core'
import { TriangleAlert } from 'lucide-react'
import { Link } from 'wouter'
import { paths } from '../../../browser/paths.ts'
import { sayType } from '../../../text/words.ts'
import type { DataObject } from './wire.ts'

type Drift = NonNullable<DataObject['drift']>

/** How the columns differ from the version before, in words; nothing when they do not. */
export function sayDrift({ added, removed, changed }: Drift): string {
  return [
    removed.length > 0 ? `lost ${removed.join(', ')}` : '',
    ...changed.map(({ name, from, to }) => `${name} was ${sayType(from)} and is ${sayType(to)}`),
    added.length > 0 ? `new ${added.join(', ')}` : '',
  ]
    .filter(Boolean)
    .join('; ')
}

function sentence(words: string): string {
  return `${words.charAt(0).toUpperCase()}${words.slice(1)}.`
}

/** Shown where columns went or changed; what only grew needs no warning. */
export function DriftWarning({ projectId, drift }: { projectId: string; drift: Drift | null }) {
  if (drift === null || (drift.removed.length === 0 && drift.changed.length === 0)) return null
  const touched = drift.queries ?? []
  return (
    <Alert
      mb="md"
      variant="default"
      title="The columns changed with the latest data"
      icon={<TriangleAlert size={18} aria-hidden />}
      styles={{ root: { background: 'var(--sluice-warn)', borderColor: 'var(--sluice-warn-line)' } }}
    >
      <Text>{sentence(sayDrift(drift))}</Text>
      {touched.length > 0 && (
        <Text mt={4}>
          Deployed queries read what changed:{' '}
          {touched.map((name) => (
            <Link key={name} href={paths.query(projectId, name)}>
              <Code mr={6}>{name}</Code>
            </Link>
          ))}
        </Text>
      )}
    </Alert>
  )
}
