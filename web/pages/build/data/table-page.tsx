import { Button, Group, Tabs, Text } from '@mantine/core'
import { Download, FileUp, RefreshCw } from 'lucide-react'
import { lazy, Suspense } from 'react'
import { Link, useLocation } from 'wouter'
import { Heading } from '../../../parts/text/heading.tsx'
import { Loaded } from '../../../parts/text/loaded.tsx'
import { Ago } from '../../../parts/text/time.tsx'
import { paths, type TableView } from '../../../browser/paths.ts'
import { servedRows, useDatasources } from '../../../client/things.ts'
import type { Project } from '../../../client/wire.ts'
import { useObject, useObjectsOf } from '../shared/asked.ts'
import { DriftWarning } from '../shared/drift.tsx'
import { HeldNotice } from '../shared/held.tsx'
import { useRefreshing } from './refreshing.tsx'
import type { Datasource, DescribedObject } from '../shared/wire.ts'
import { sayCount, saySize } from '../../../text/words.ts'
import { Profile } from './profile.tsx'
import { TableTags } from './table-tags.tsx'
import { UsedBy } from './used-by.tsx'

const RowsView = lazy(async () => ({ default: (await import('./rows-view.tsx')).RowsView }))
const ContractView = lazy(async () => ({ default: (await import('./contract-view.tsx')).ContractView }))
const VersionsView = lazy(async () => ({ default: (await import('./versions-view.tsx')).VersionsView }))

type Props = { project: Project; table: string; view: string | undefined }

export function TablePage({ project, table, view }: Props) {
  const sources = useDatasources(project.id)
  const source = sources.data?.find(({ table_name: name }) => name === table)
  return (
    <Loaded query={sources}>
      {() =>
        source === undefined ? (
          <>
            <Heading title="There is no such table">It may have been deleted with its connection.</Heading>
            <Button component={Link} href={paths.data(project.id)}>
              Go to the tables
            </Button>
          </>
        ) : (
          <TableOf project={project} source={source} view={view} />
        )
      }
    </Loaded>
  )
}

function TableOf({ project, source, view }: { project: Project; source: Datasource; view: string | undefined }) {
  const objects = useObjectsOf(project.id, source.id)
  const newest = servedRows(objects.data ?? []).get(source.id)
  const object = useObject(project.id, newest?.id)
  if (objects.data !== undefined && newest === undefined) {
    return (
      <>
        <Heading title={source.table_name} within={project.name}>
          It has no rows yet.
        </Heading>
        <Button component={Link} href={paths.connection(project.id, source.id)}>
          Go to its connection
        </Button>
      </>
    )
  }
  return (
    <Loaded query={{ ...object, error: objects.error ?? object.error }}>
      {(described) => <Described project={project} source={source} object={described} view={view} />}
    </Loaded>
  )
}

const views: TableView[] = ['columns', 'rows', 'contract', 'versions']

const viewNames: Record<TableView, string> = {
  columns: 'Columns',
  rows: 'Rows',
  contract: 'Rules',
  versions: 'Versions',
}

type DescribedProps = { project: Project; source: Datasource; object: DescribedObject; view: string | undefined }

function Described({ project, source, object, view }: DescribedProps) {
  const refreshing = useRefreshing(project, source)
  return (
    <>
      <Heading
        title={object.table_name}
        within={project.name}
        action={<TableActs project={project} source={source} object={object} refreshing={refreshing} />}
      >
        {sayCount(object.row_count ?? 0, 'row')}, {saySize(object.size_bytes)}, version {object.version} of{' '}
        <Link href={paths.connection(project.id, source.id)}>{source.name}</Link>, fetched{' '}
        <Ago at={object.created_at} />
        {object.truncated && '. Not all of it was fetched: the source has more than the limits allow'}
      </Heading>
      <HeldNotice project={project} source={source} />
      {refreshing.progress}
      {source.held === null && <DriftWarning projectId={project.id} drift={object.drift} />}
      <TableTags project={project} source={source} />
      <UsedBy project={project} object={object} />
      <TableViews {...{ project, source, object, view }} onRefresh={refreshing.start} />
    </>
  )
}

type ActsProps = Omit<DescribedProps, 'view'> & { refreshing: ReturnType<typeof useRefreshing> }

function TableActs({ project, source, object, refreshing }: ActsProps) {
  return (
    <Group gap="xs">
      <Button
        component="a"
        variant="default"
        href={`/v1/projects/${project.id}/data-objects/${object.id}/download`}
        leftSection={<Download size={16} aria-hidden />}
      >
        Download Parquet
      </Button>
      {project.role !== 'viewer' && source.kind === 'file' && (
        <Button
          component={Link}
          href={paths.connection(project.id, source.id)}
          variant="default"
          leftSection={<FileUp size={16} aria-hidden />}
        >
          Upload a file
        </Button>
      )}
      {source.kind === 'model' && (
        <Button component={Link} href={paths.model(project.id, object.table_name)} variant="default">
          {project.role === 'viewer' ? 'Open model' : 'Edit model'}
        </Button>
      )}
      {project.role !== 'viewer' && source.kind !== 'file' && (
        <Button
          variant="default"
          leftSection={<RefreshCw size={16} aria-hidden />}
          loading={refreshing.isPending}
          onClick={refreshing.start}
        >
          {source.kind === 'model' ? 'Rebuild' : 'Fetch data'}
        </Button>
      )}
      <Button component={Link} href={paths.newQuery(project.id, object.table_name)}>
        Query it
      </Button>
    </Group>
  )
}

function TableViews({ project, source, object, view, onRefresh }: DescribedProps & { onRefresh: () => void }) {
  const [, navigate] = useLocation()
  const shown = views.find((each) => each === view) ?? 'columns'
  return (
    <Tabs
      value={shown}
      keepMounted={false}
      onChange={(next) => navigate(paths.table(project.id, object.table_name, next as TableView), { replace: true })}
    >
      <Tabs.List mb="md" aria-label="About the table">
        {views.map((each) => (
          <Tabs.Tab key={each} value={each} px={{ base: 10, xs: 'md' }}>
            {viewNames[each]}
          </Tabs.Tab>
        ))}
      </Tabs.List>
      <Tabs.Panel value="columns">
        {object.profile === null ? (
          <Text c="dimmed" aria-live="polite">
            The columns are being looked at. This takes a moment.
          </Text>
        ) : (
          <Profile columns={object.profile.columns} rowCount={object.profile.row_count} />
        )}
      </Tabs.Panel>
      <Suspense fallback={null}>
        <Tabs.Panel value="rows">
          <RowsView projectId={project.id} object={object} />
        </Tabs.Panel>
        <Tabs.Panel value="contract">
          <ContractView project={project} source={source} onRefresh={onRefresh} />
        </Tabs.Panel>
        <Tabs.Panel value="versions">
          <VersionsView project={project} source={source} />
        </Tabs.Panel>
      </Suspense>
    </Tabs>
  )
}
