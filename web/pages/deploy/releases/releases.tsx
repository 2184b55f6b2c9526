import { Badge, Button, Group, Text } from '@mantine/core'
import { PackageCheck } from 'lucide-react'
import { useState } from 'react'
import { Link } from 'wouter'
import { Empty } from '../../../parts/text/empty.tsx'
import { Heading } from '../../../parts/text/heading.tsx'
import { Loaded } from '../../../parts/text/loaded.tsx'
import { Older } from '../../../parts/table/more.tsx'
import { Row, Rows } from '../../../parts/table/rows.tsx'
import { Ago, sayExactly } from '../../../parts/text/time.tsx'
import type { Place } from '../shared/place.ts'
import { useReleases } from './release-acts.ts'
import { PromoteSheet, ReleaseSheet } from './release-sheet.tsx'
import { sayQueries, sayRelease } from './release-words.ts'
import { Who } from '../shared/who.tsx'
import type { ReleaseEntry } from '../shared/wire.ts'

/** The releases of the environment, by whom and why; and the button to release what has changed. */
export function ReleasesPage({ place }: { place: Place }) {
  const { project, environment, editor } = place
  const releases = useReleases(project.id, environment)
  const [opened, setOpened] = useState<'release' | 'promote' | null>(null)
  const close = (): void => setOpened(null)
  const acts = (
    <Group gap="sm">
      <Button variant="default" onClick={() => setOpened('promote')}>
        Promote
      </Button>
      <Button onClick={() => setOpened('release')}>Release changes</Button>
    </Group>
  )
  return (
    <>
      <Heading title="Releases" within={project.name} action={editor ? acts : undefined}>
        What changed in {environment}, each as one act that can be rolled back.
        {!editor && ' You are a viewer here. Editors release and roll back.'}
      </Heading>
      <Loaded query={releases}>
        {(list) =>
          list.length === 0 ? (
            <Empty icon={<PackageCheck size={20} />}>
              Nothing has been released to {environment} yet. All queries that have changed go out together, after a
              look at what that means for callers and for questions.
            </Empty>
          ) : (
            <>
              <Rows label="Releases">
                {list.map((entry) => (
                  <ReleaseRow key={entry.id} place={place} entry={entry} />
                ))}
              </Rows>
              <Older pages={releases} what="releases" />
            </>
          )
        }
      </Loaded>
      {opened === 'release' && <ReleaseSheet place={place} act={{ kind: 'release', environment }} onClose={close} />}
      {opened === 'promote' && <PromoteSheet place={place} onClose={close} />}
    </>
  )
}

function ReleaseRow({ place, entry }: { place: Place; entry: ReleaseEntry }) {
  const { id, message, commit, query_count: count, query_names: names, breaking_count: breaking } = entry
  const shown = names.slice(0, 6)
  return (
    <Row
      end={
        <>
          {breaking > 0 && (
            <Badge variant="light" color="red" tt="none" radius="sm" c="var(--mantine-color-text)">
              {breaking === count ? 'Breaking' : `${breaking} breaking`}
            </Badge>
          )}
          <ReleaseState status={entry.status} />
          <Button
            component={Link}
            href={place.to(`releases/${id}`)}
            variant="default"
            size="xs"
            aria-label={`Open the release of ${count === 1 ? (names[0] ?? 'a query') : sayQueries(count)}, ${sayExactly(entry.created_at)}`}
          >
            Open
          </Button>
        </>
      }
    >
      <Text fw={500}>{message ?? sayRelease(entry).replace(/^./, (letter) => letter.toUpperCase())}</Text>
      {(count > 1 || message !== null) && (
        <Text size="sm" c="dimmed" lineClamp={1}>
          {shown.join(', ')}
          {count > shown.length && ` and ${count - shown.length} more`}
        </Text>
      )}
      <Text size="xs" c="dimmed">
        {/* The act is the title where nobody said why. */}
        {message === null && 'by '}
        <Who place={place} label={entry.created_by} />
        {message !== null && `, who ${sayRelease(entry)}`} <Ago at={entry.created_at} />
        {commit !== null && ` · ${commit.slice(0, 12)}`}
      </Text>
    </Row>
  )
}

const states: Record<ReleaseEntry['status'], string | null> = {
  released: null,
  checked: 'Only checked',
  canary: 'Canary',
  shadow: 'Shadow',
  rolled_back: 'Rolled back',
}

export function ReleaseState({ status }: Pick<ReleaseEntry, 'status'>) {
  const says = states[status]
  if (says === null) return null
  return (
    <Badge variant="light" color="gray" tt="none" radius="sm" c="var(--mantine-color-text)">
      {says}
    </Badge>
  )
}
