import { Anchor, Code, Group, Skeleton, Stack, Text } from '@mantine/core'
import { lazy, Suspense } from 'react'
import { Link } from 'wouter'
import { Card } from '../../../parts/text/card.tsx'
import { CopyMark } from '../../../parts/text/copy.tsx'
import { Empty } from '../../../parts/text/empty.tsx'
import { Loaded } from '../../../parts/text/loaded.tsx'
import { Ago } from '../../../parts/text/time.tsx'
import { Radio } from 'lucide-react'
import { paths } from '../../../browser/paths.ts'
import { sayNumber, sayType } from '../../../text/words.ts'
import classes from '../shared/deploy.module.css'
import type { Place } from '../shared/place.ts'
import { useDeployments, useVersion } from '../shared/queries.ts'
import { Snippets } from '../shared/snippets.tsx'
import { exampleValues } from '../shared/slot-values.ts'
import { PlainTable } from '../../../parts/table/plain-table.tsx'
import { Who } from '../shared/who.tsx'
import type { Query, SlotSchema, SlotsSchema, Version } from '../shared/wire.ts'

const SqlText = lazy(async () => ({ default: (await import('../../build/queries/sql/sql-text.tsx')).SqlText }))

/** The facts that a caller needs. */
export function Overview({ place, query, live }: { place: Place; query: Query; live: number | null }) {
  const version = useVersion({ projectId: place.project.id, name: query.name }, live ?? undefined)
  if (live === null) {
    return (
      <Empty icon={<Radio size={20} />}>
        {query.name} does not answer in {place.environment}. Deploying it gives it an address there.
      </Empty>
    )
  }
  return <Loaded query={version}>{(found) => <Facts place={place} name={query.name} version={found} />}</Loaded>
}

function Facts({ place, name, version }: { place: Place; name: string; version: Version }) {
  const { project, environment } = place
  const deployments = useDeployments(project.id)
  const live = deployments.data?.find((each) => each.name === name && each.environment === environment)
  const tables = Object.keys(version.tables)
  const url = `${location.origin}/v1/queries/${name}`
  return (
    <Stack gap="lg">
      <Card title="Address">
        <dl className={classes['facts']}>
          <dt>Call</dt>
          <dd>
            <Group gap={4} wrap="nowrap">
              <Code>POST {url}</Code>
              <CopyMark text={url} what="address" />
            </Group>
          </dd>
          {live !== undefined && (
            <>
              <dt>Deployed</dt>
              <dd>
                by <Who place={place} label={live.deployed_by} /> <Ago at={live.deployed_at} />
              </dd>
            </>
          )}
          <dt>Reads</dt>
          <dd>
            {tables.length === 0
              ? 'no table'
              : tables.map((table, at) => (
                  <span key={table}>
                    {at > 0 && ', '}
                    <Link href={paths.table(project.id, table)}>{table}</Link>
                  </span>
                ))}
          </dd>
          <dt>Cache</dt>
          <dd>
            {version.cache_seconds === null || version.cache_seconds === 0
              ? 'Off: every call runs the query'
              : `For up to ${sayNumber(version.cache_seconds)} s, until the data changes`}
          </dd>
        </dl>
      </Card>
      <Card title="Slots" about="What a caller sends, as a JSON object.">
        <Slots slots={version.slots} />
      </Card>
      <Card
        title="SQL"
        about={
          <>
            Version {version.version}, as it answers here.{' '}
            <Anchor component={Link} href={paths.query(project.id, name)} underline="always">
              {place.editor ? 'Edit the query' : 'Open the query'}
            </Anchor>
          </>
        }
      >
        <Suspense fallback={<Skeleton height={96} />}>
          <SqlText sql={version.sql} label={`SQL of ${name}`} />
        </Suspense>
      </Card>
      <Card title="Columns" about="What comes back in each row.">
        <PlainTable
          label="Columns"
          head={['Name', 'Type']}
          rows={version.columns.map(({ name: column, type }) => [<Code key={column}>{column}</Code>, sayType(type)])}
        />
      </Card>
      <Card title="From your code" about="Put an API key into the environment as SLUICE_API_KEY.">
        <Snippets
          target={{ kind: 'direct', projectId: project.id, environment, name }}
          body={exampleValues(version.slots, version.examples[0]?.parameters)}
        />
      </Card>
    </Stack>
  )
}

function Slots({ slots: { properties, required } }: { slots: SlotsSchema }) {
  const entries = Object.entries(properties)
  if (entries.length === 0) return <Text c="dimmed">No slots: every call gives the same answer.</Text>
  return (
    <PlainTable
      label="Slots"
      head={['Name', 'Type', 'Required']}
      rows={entries.map(([name, slot]) => [
        <Code key="name">{name}</Code>,
        <div key="type">
          {sayKind(slot)}
          {slot.description !== undefined && (
            <Text size="xs" c="dimmed">
              {slot.description}
            </Text>
          )}
        </div>,
        sayAbsent(slot, required.includes(name)),
      ])}
    />
  )
}

const formats = { date: 'date', 'date-time': 'date and time', time: 'time of day' }

function sayKind(slot: SlotSchema): string {
  if (slot.type === 'array') return `a list, each ${sayKind({ ...slot.items })}`
  if ('enum' in slot && slot.enum !== undefined) {
    const some = slot.enum.slice(0, 6).map(String).join(', ')
    return `one of ${some}${slot.enum.length > 6 ? ` and ${slot.enum.length - 6} more` : ''}`
  }
  if (slot.type === 'string') return slot.format === undefined ? 'text' : formats[slot.format]
  if (slot.type === 'boolean') return 'true or false'
  const bounds = [
    slot.minimum === undefined ? '' : ` from ${slot.minimum}`,
    slot.maximum === undefined ? '' : ` up to ${slot.maximum}`,
  ].join('')
  return `${slot.type === 'integer' ? 'a whole number' : 'a number'}${bounds}`
}

function sayAbsent({ default: usual }: SlotSchema, required: boolean): string {
  if (required) return 'yes'
  return usual === undefined || usual === null ? 'no' : `no, default ${JSON.stringify(usual)}`
}
