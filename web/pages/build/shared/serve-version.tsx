import { Button, List, Text } from '@mantine/core'
import { call } from '../../../client/api.ts'
import { Link } from 'wouter'
import { AskFirst } from '../../../parts/form/confirm.tsx'
import { paths } from '../../../browser/paths.ts'
import { useAct } from '../../../client/queries.ts'
import { thingKeys } from '../../../client/things.ts'
import { useObjectsOf } from './asked.ts'
import { sayDrift } from './drift.tsx'
import { differenceOf } from './difference.ts'
import type { DataObject, Datasource, DataVersion, HeldBecause } from './wire.ts'

type Version = Pick<DataVersion, 'version' | 'held_because'>

type Props = {
  projectId: string
  source: Pick<Datasource, 'id' | 'table_name'>
  version: Version
  /** The version that serves now, if one does. */
  live: number | undefined
  verb: string
  variant?: 'default' | 'filled'
}

/** Makes a version serve, forward or back, after saying what that changes for those who read the table. */
export function ServeVersion({ projectId, source, version, live, verb, variant = 'default' }: Props) {
  const act = useAct(
    () =>
      call<DataVersion>(
        'POST',
        `/v1/projects/${projectId}/datasources/${source.id}/versions/${version.version}/activate`,
      ),
    {
      refresh: [thingKeys.sources(projectId), thingKeys.objects(projectId)],
      say: () => `Version ${version.version} of ${source.table_name} serves now.`,
    },
  )
  return (
    <AskFirst
      renderButton={(ask) => (
        <Button size="xs" variant={variant} onClick={ask} aria-label={`${verb}: version ${version.version}`}>
          {verb}
        </Button>
      )}
      title={`Serve version ${version.version} of ${source.table_name}`}
      verb={`Serve version ${version.version}`}
      act={act}
    >
      <WhatChanges projectId={projectId} source={source} version={version} live={live} />
    </AskFirst>
  )
}

function WhatChanges({ projectId, source, version, live }: Omit<Props, 'verb' | 'variant'>) {
  const objects = useObjectsOf(projectId, source.id)
  const difference = differenceBetween(objects.data ?? [], live, version.version)
  const broken = version.held_because?.queries ?? []
  return (
    <>
      <Text>
        Queries read it from the next call on{live === undefined ? '' : `, instead of version ${live}`}. You can go back
        at any time.
      </Text>
      {difference !== '' && <Text mt="sm">Compared with what serves now: {difference}.</Text>}
      {broken.length > 0 && <BrokenQueries projectId={projectId} queries={broken} />}
    </>
  )
}

type BrokenProps = { projectId: string; queries: NonNullable<HeldBecause['queries']> }

export function BrokenQueries({ projectId, queries }: BrokenProps) {
  return (
    <>
      <Text mt="sm">Deployed queries that would break:</Text>
      <List spacing={2} mt={4}>
        {queries.map(({ name, environments, message }) => (
          <List.Item key={name}>
            <Link href={paths.query(projectId, name)}>{name}</Link> in {environments.join(', ')}: {message}
          </List.Item>
        ))}
      </List>
    </>
  )
}

function differenceBetween(objects: DataObject[], live: number | undefined, version: number): string {
  const columnsOf = (wanted: number | undefined) =>
    objects.find((object) => object.kind === 'response_data' && object.version === wanted)?.columns
  const [before, after] = [columnsOf(live), columnsOf(version)]
  return before === undefined || before === null || after === undefined || after === null
    ? ''
    : sayDrift(differenceOf(before, after))
}
