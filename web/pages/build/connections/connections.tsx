import { Badge, Button, Group, Text, Title } from '@mantine/core'
import { FileUp, Plus } from 'lucide-react'
import { Link } from 'wouter'
import { Heading } from '../../../parts/text/heading.tsx'
import { Loaded } from '../../../parts/text/loaded.tsx'
import { Ago } from '../../../parts/text/time.tsx'
import { paths } from '../../../browser/paths.ts'
import { servedRows, useDatasources, useObjects } from '../../../client/things.ts'
import type { Project } from '../../../client/wire.ts'
import shared from '../shared/build.module.css'
import { ListTable } from '../shared/list-table.tsx'
import type { DataObject, Datasource } from '../shared/wire.ts'
import { sayNumber, saySchedule } from '../../../text/words.ts'
import classes from './fields/connection.module.css'

export function ConnectionsSection({ project }: { project: Project }) {
  const sources = useDatasources(project.id)
  const objects = useObjects(project.id)
  const editor = project.role !== 'viewer'
  const newest = servedRows(objects.data ?? [])
  const some = (sources.data?.length ?? 0) > 0
  const create = (
    <Group gap="xs">
      <Button
        component={Link}
        href={paths.newFileTable(project.id)}
        variant="default"
        leftSection={<FileUp size={16} aria-hidden />}
      >
        Upload a file
      </Button>
      <Button component={Link} href={paths.connection(project.id, 'new')} variant="default">
        New connection
      </Button>
      <Button component={Link} href={paths.catalog(project.id)} leftSection={<Plus size={16} aria-hidden />}>
        Connect
      </Button>
    </Group>
  )
  return (
    <>
      <Heading title="Connections" within={project.name} action={some && editor ? create : undefined}>
        HTTP APIs whose answers, and files whose rows, become tables of this project.
      </Heading>
      <Loaded query={sources}>
        {(list) =>
          list.length === 0 ? (
            <FirstSteps project={project} editor={editor} />
          ) : (
            <ListTable
              label="Connections"
              items={list}
              what="connections"
              head={['Connection', 'Status', 'Table', { figures: 'Rows' }, 'Fetched', 'Fetch again']}
            >
              {(source) => <Line key={source.id} project={project} source={source} rows={newest.get(source.id)} />}
            </ListTable>
          )
        }
      </Loaded>
    </>
  )
}

type LineProps = { project: Project; source: Datasource; rows: DataObject | undefined }

function Line({ project, source, rows }: LineProps) {
  return (
    <tr>
      <td>
        <Link
          href={
            source.kind === 'model'
              ? paths.model(project.id, source.table_name)
              : paths.connection(project.id, source.id)
          }
          className={shared.name}
        >
          {source.name}
        </Link>
        {source.last_error !== null && (
          <Text size="xs" c="var(--sluice-danger)">
            {source.last_error.message}
          </Text>
        )}
      </td>
      <td>
        <SourceStatus source={source} />
      </td>
      <td>
        {rows === undefined ? (
          <Text c="dimmed">{source.table_name}</Text>
        ) : (
          <Link href={paths.table(project.id, source.table_name)}>{source.table_name}</Link>
        )}
      </td>
      <td data-end data-unit="rows">
        {rows?.row_count !== undefined && rows.row_count !== null && sayNumber(rows.row_count)}
      </td>
      <td>{source.refreshed_at !== null && <Ago at={source.refreshed_at} />}</td>
      <td>
        <Text component="span" c="dimmed" className={classes.schedule ?? ''}>
          {source.kind === 'file'
            ? 'By upload'
            : isAfterTables(source)
              ? 'After its tables'
              : saySchedule(source.schedule)}
        </Text>
      </td>
    </tr>
  )
}

/** A model is built when a table that it reads changes, unless it has a schedule besides. */
function isAfterTables({ kind, schedule }: Datasource): boolean {
  return kind === 'model' && schedule === null
}

export function SourceStatus({ source }: { source: Pick<Datasource, 'status' | 'last_error'> }) {
  const failing = source.status === 'failed' || source.last_error !== null
  const isHeld = source.status === 'held'
  const words = failing ? 'Failing' : isHeld ? 'New data held' : source.status === 'ready' ? 'Ready' : 'Not fetched'
  return (
    <Badge
      miw="max-content"
      variant="default"
      radius="sm"
      tt="none"
      fw={500}
      c={
        failing || isHeld ? 'var(--sluice-danger)' : source.status === 'ready' ? 'var(--sluice-accent-text)' : 'dimmed'
      }
    >
      {words}
    </Badge>
  )
}

const steps = [
  {
    title: 'Connect an API',
    about: 'Give its address, look at what it answers, and click the key that holds the rows.',
  },
  {
    title: 'Ask the table',
    about: 'The rows become a table. Write a query over it, with slots for what callers choose.',
  },
  { title: 'Deploy the query', about: 'It becomes an endpoint that programs call and people ask in plain words.' },
]

/** An empty project: what to do next, with an address that works already filled in. */
function FirstSteps({ project, editor }: { project: Project; editor: boolean }) {
  return (
    <>
      <ol className={classes.steps}>
        {steps.map(({ title, about }, index) => (
          <li key={title} className={classes.step}>
            <div className={classes.number} aria-hidden>
              {index + 1}
            </div>
            <Title order={2} mb={4}>
              {title}
            </Title>
            <Text c="dimmed">{about}</Text>
          </li>
        ))}
      </ol>
      {editor ? (
        <Group gap="sm">
          <Button component={Link} href={paths.catalog(project.id)} leftSection={<Plus size={16} aria-hidden />}>
            Choose from the catalog
          </Button>
          <Button component={Link} href={`${paths.connection(project.id, 'new')}?sample`} variant="default">
            Connect the sample API
          </Button>
          <Button component={Link} href={paths.connection(project.id, 'new')} variant="default">
            Use your own
          </Button>
          <Button component={Link} href={paths.newFileTable(project.id)} variant="default">
            Upload a file
          </Button>
        </Group>
      ) : (
        <Text c="dimmed">You are a viewer here. An editor connects the first API.</Text>
      )}
    </>
  )
}
