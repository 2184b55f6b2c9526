import { Badge, Button, Code, Group } from '@mantine/core'
import { PackageCheck } from 'lucide-react'
import { useState } from 'react'
import { useSearch } from 'wouter'
import { Empty } from '../../parts/text/empty.tsx'
import { Heading } from '../../parts/text/heading.tsx'
import { Loaded } from '../../parts/text/loaded.tsx'
import { Older } from '../../parts/table/more.tsx'
import { List, NameCell, type Column } from '../../parts/table/list.tsx'
import { Ago } from '../../parts/text/time.tsx'
import type { Place } from '../deploy/shared/place.ts'
import { useReleases } from './release-acts.ts'
import { PromoteSheet, ReleaseSheet } from './release-sheet.tsx'
import { sayQueries, sayRelease } from './release-words.ts'
import { sayDuration, servingOf, type Serving } from './serving.ts'
import { Who } from '../deploy/shared/who.tsx'
import type { ReleaseEntry } from '../deploy/shared/wire.ts'

/** The releases of the environment, by whom and why; and the button to release what has changed. */
export function ReleasesPage({ place }: { place: Place }) {
  const { project, environment, editor } = place
  const releases = useReleases(project.id, environment)
  const asked = new URLSearchParams(useSearch())
  const [opened, setOpened] = useState<'release' | 'promote' | null>(editor && asked.has('release') ? 'release' : null)
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
              <List
                label="Releases"
                items={list}
                what="releases"
                keyOf={({ id }) => id}
                opens
                columns={columnsOf(place, servingOf(list))}
              />
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

function columnsOf(place: Place, serving: Map<string, Serving>): Array<Column<ReleaseEntry>> {
  return [
    {
      label: 'Release',
      whole: true,
      cell: (entry) => (
        <NameCell
          href={place.to(`releases/${entry.id}`)}
          name={entry.message ?? sayRelease(entry).replace(/^./, (letter) => letter.toUpperCase())}
          about={entry.message === null && entry.query_count === 1 ? '' : sayNames(entry)}
        />
      ),
    },
    { label: 'State', cell: (entry) => <State entry={entry} serving={serving.get(entry.id)} /> },
    {
      label: 'Version',
      cell: ({ version, query_count: count }) =>
        version === null ? count === 1 ? '–' : sayQueries(count) : <span className="numbers">v{version}</span>,
    },
    { label: 'By', cell: ({ created_by: by }) => <Who place={place} label={by} /> },
    { label: 'When', cell: ({ created_at: at }) => <Ago at={at} /> },
    {
      label: 'Served',
      figure: true,
      cell: ({ id }) => {
        const ms = serving.get(id)?.ms ?? null
        return ms === null ? null : <span className="numbers">{sayDuration(ms)}</span>
      },
    },
    { label: 'Commit', cell: ({ commit }) => commit !== null && <Code>{commit.slice(0, 10)}</Code> },
  ]
}

function sayNames({ query_names: names, query_count: count }: ReleaseEntry): string {
  const shown = names.slice(0, 6)
  return `${shown.join(', ')}${count > shown.length ? ` and ${count - shown.length} more` : ''}`
}

function State({
  entry: { status, breaking_count: breaking },
  serving,
}: {
  entry: ReleaseEntry
  serving: Serving | undefined
}) {
  return (
    <Group gap={6} wrap="nowrap">
      {serving?.isNow === true && status === 'released' && (
        <Badge variant="light" color="green" tt="none" radius="sm" c="var(--mantine-color-text)">
          Serving now
        </Badge>
      )}
      <ReleaseState status={status} />
      {breaking > 0 && (
        <Badge variant="light" color="red" tt="none" radius="sm" c="var(--mantine-color-text)">
          Breaking
        </Badge>
      )}
    </Group>
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
