import { Badge, Button, Group, Select, Stack, Text } from '@mantine/core'
import { Layers } from 'lucide-react'
import { useState } from 'react'
import { Card } from '../../../parts/text/card.tsx'
import { Empty } from '../../../parts/text/empty.tsx'
import { Loaded } from '../../../parts/text/loaded.tsx'
import { Row, Rows } from '../../../parts/table/rows.tsx'
import { Ago } from '../../../parts/text/time.tsx'
import { DeploySheet } from './deploy-sheet.tsx'
import { Diff } from './diff.tsx'
import type { Place } from '../shared/place.ts'
import { useDiff, useVersions } from '../shared/queries.ts'
import { Who } from '../shared/who.tsx'
import type { Query, VersionEntry } from '../shared/wire.ts'

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
            <Rows label="Versions">
              {list.map((each) => (
                <Row
                  key={each.version}
                  end={
                    <>
                      {each.environments.map((environment) => (
                        <Badge key={environment} variant="light" tt="none" radius="sm" c="var(--sluice-accent-text)">
                          {environment}
                        </Badge>
                      ))}
                      {place.editor && live !== null && each.version !== live && (
                        <Button variant="subtle" color="gray" size="xs" onClick={() => setChosen(each.version)}>
                          {each.version < live
                            ? `Roll back to version ${each.version}`
                            : `Deploy version ${each.version}`}
                        </Button>
                      )}
                    </>
                  }
                >
                  <Text fw={500}>Version {each.version}</Text>
                  <Text size="xs" c="dimmed">
                    made by <Who place={place} label={each.created_by} /> <Ago at={each.created_at} />
                  </Text>
                </Row>
              ))}
            </Rows>
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
