import { Code, List, Text } from '@mantine/core'
import { useQueryClient } from '@tanstack/react-query'
import { useLocation } from 'wouter'
import { call } from '../../../client/api.ts'
import { Confirm } from '../../../parts/form/confirm.tsx'
import { paths } from '../../../browser/paths.ts'
import { useAct } from '../../../client/queries.ts'
import { thingKeys } from '../../../client/things.ts'
import type { Project } from '../../../client/wire.ts'
import { useProjectMap } from '../shared/project-map.ts'
import type { Datasource } from '../shared/wire.ts'

type Props = { project: Project; source: Datasource; opened: boolean; onClose: () => void }

export function DeleteConnection({ project, source, opened, onClose }: Props) {
  const [, navigate] = useLocation()
  const client = useQueryClient()
  const remove = useAct(
    async () => {
      await call<undefined>('DELETE', `/v1/projects/${project.id}/datasources/${source.id}`)
      // The list is where one goes next: it must not show it for as long as it is asked for anew.
      client.setQueryData<Datasource[]>(thingKeys.sources(project.id), (known) =>
        known?.filter(({ id }) => id !== source.id),
      )
      navigate(paths.data(project.id))
    },
    {
      refresh: [thingKeys.sources(project.id), thingKeys.objects(project.id)],
      say: () => `${source.name} is deleted.`,
    },
  )
  return (
    <Confirm
      opened={opened}
      onClose={onClose}
      title={`Delete ${source.name}`}
      verb={`Delete ${source.name}`}
      typed={source.table_name}
      act={remove}
    >
      The table <Code>{source.table_name}</Code> goes with every version of its data. This cannot be undone.
      <Readers project={project} table={source.table_name} />
    </Confirm>
  )
}

/** Queries that would lose the table, those that answer callers first. */
function Readers({ project, table }: { project: Project; table: string }) {
  const { data: map } = useProjectMap(project)
  if (map === undefined) return null
  const live = map.queries.flatMap(({ name, deployments }) =>
    deployments.filter(({ reads }) => reads.includes(table)).map(({ environment }) => ({ name, environment })),
  )
  const drafts = map.queries.filter(
    ({ name, reads }) => reads.includes(table) && live.every((each) => each.name !== name),
  )
  if (live.length + drafts.length === 0) return <Text mt="sm">No query reads it.</Text>
  return (
    <List mt="sm" size="sm" aria-label={`Queries that read ${table}`}>
      {live.map(({ name, environment }) => (
        <List.Item key={`${name} ${environment}`}>
          <Code>{name}</Code> answers in {environment} and reads it
        </List.Item>
      ))}
      {drafts.map(({ name }) => (
        <List.Item key={name}>
          <Code>{name}</Code> reads it as a draft
        </List.Item>
      ))}
    </List>
  )
}
