import { Badge, Button, Group, Select, Stack } from '@mantine/core'
import { Layers } from 'lucide-react'
import { useState } from 'react'
import { Card } from '../../../parts/text/card.tsx'
import { Empty } from '../../../parts/text/empty.tsx'
import { Loaded } from '../../../parts/text/loaded.tsx'
import { List, type Column } from '../../../parts/table/list.tsx'
import { Ago } from '../../../parts/text/time.tsx'
import { DeploySheet } from '../deploying/deploy-sheet.tsx'
import { HistoryView } from './history.tsx'
import { Diff } from '../deploying/diff.tsx'
import type { Place } from '../../deploy/shared/place.ts'
import { useDiff, useVersions } from '../../deploy/shared/queries.ts'
import { Who } from '../../deploy/shared/who.tsx'
import type { Query, VersionEntry } from '../../deploy/shared/wire.ts'

type Props = { place: Place; query: Query; live: number | null }

export function VersionsView({ place, query, live }: Props) {
  const versions = useVersions({ projectId: place.project.id, name: query.name })
  const [chosen, setChosen] = useState<number | null>(null)
  return (
    <Loaded query={versions}>
      {(list) =>
        list.length === 0 ? (
          <Empty icon={<Layers size={20} />}>
            A version is made when the query is deployed, and never changes after.
          </Empty>
        ) : (
          <Stack gap="lg">
            <Compare place={place} query={query} versions={list} live={live} />
            <List
              label="Versions"
              items={list}
              what="versions"
              keyOf={({ version }) => String(version)}
              columns={columnsOf(place, live, setChosen)}
            />
            <Card title="History" about="In every environment: what happened in one explains the other.">
              <HistoryView place={place} name={query.name} />
            </Card>
            {chosen !== null && live !== null && (
              <DeploySheet
                projectId={place.project.id}
                name={query.name}
                move={{ kind: chosen < live ? 'rollback' : 'deploy', environment: place.environment, version: chosen }}
                onClose={() => setChosen(null)}
              />
            )}
          </Stack>
        )
      }
    </Loaded>
  )
}

function Compare({
  place,
  query,
  versions,
  live,
}: Props & {
  versions: VersionEntry[]
}) {
  const newest = versions[0]?.version ?? 1
  // A draft that is what answers has nothing to show beside it: then the last change is shown.
  const isEdited = query.changed || (live !== null && live !== newest)
  const [from, setFrom] = useState(isEdited ? (live ?? newest) : (versions[1]?.version ?? newest))
  const [to, setTo] = useState<number | 'draft'>(isEdited ? 'draft' : newest)
  const diff = useDiff({ projectId: place.project.id, name: query.name }, from, to)
  const numbers = versions.map(({ version }) => ({ value: String(version), label: `Version ${version}` }))
  return (
    <Card title="Compare">
      <Group gap="sm" align="flex-end">
        <Select label="From" w={160} data={numbers} value={String(from)} onChange={(value) => setFrom(Number(value))} />
        <Select
          label="To"
          w={160}
          data={[{ value: 'draft', label: 'The draft' }, ...numbers]}
          value={String(to)}
          onChange={(value) => setTo(value === 'draft' ? 'draft' : Number(value))}
        />
      </Group>
      <Loaded query={diff}>{(difference) => <Diff difference={difference} label="Difference" />}</Loaded>
    </Card>
  )
}

function columnsOf(
  place: Place,
  live: number | null,
  onChoose: (version: number) => void,
): Array<Column<VersionEntry>> {
  return [
    { label: 'Version', whole: true, cell: ({ version }) => <b>Version {version}</b> },
    {
      label: 'Answers in',
      cell: ({ environments }) =>
        environments.map((environment) => (
          <Badge
            key={environment}
            variant="light"
            color="green"
            tt="none"
            radius="sm"
            mr={4}
            c="var(--mantine-color-text)"
          >
            {environment}
          </Badge>
        )),
    },
    { label: 'Made by', cell: ({ created_by: by }) => <Who place={place} label={by} /> },
    { label: 'When', cell: ({ created_at: at }) => <Ago at={at} /> },
    {
      label: '',
      name: 'act',
      cell: ({ version }) =>
        place.editor &&
        live !== null &&
        version !== live && (
          <Button variant="subtle" color="gray" size="compact-sm" onClick={() => onChoose(version)}>
            {version < live ? `Roll back to version ${version}` : `Deploy version ${version}`}
          </Button>
        ),
    },
  ]
}
