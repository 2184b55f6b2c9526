import { Badge, Button, Code, Group, Text } from '@mantine/core'
import { FileCode2, Plus } from 'lucide-react'
import { useState } from 'react'
import { Link, Redirect, useSearch } from 'wouter'
import { List, NameCell, type Column, type Order } from '../../../parts/table/list.tsx'
import { Empty } from '../../../parts/text/empty.tsx'
import { Heading } from '../../../parts/text/heading.tsx'
import { Loaded } from '../../../parts/text/loaded.tsx'
import { Ago } from '../../../parts/text/time.tsx'
import { inEnvironment, paths } from '../../../browser/paths.ts'
import { useQueriesOf } from '../../../client/things.ts'
import type { Project } from '../../../client/wire.ts'
import shared from '../shared/build.module.css'
import { NoneFound, TagList, useSorting } from '../shared/tags.tsx'
import type { Query } from '../shared/wire.ts'

export function QueriesSection({ project }: { project: Project }) {
  const queries = useQueriesOf(project.id)
  const asked = new URLSearchParams(useSearch()).get('new')
  if (asked !== null) return <Redirect to={paths.newQuery(project.id, asked)} replace />
  const create =
    project.role === 'viewer' ? undefined : (
      <Button component={Link} href={paths.newQuery(project.id)} leftSection={<Plus size={16} aria-hidden />}>
        New query
      </Button>
    )
  return (
    <>
      <Heading title="Queries" within={project.name} action={(queries.data?.length ?? 0) > 0 ? create : undefined}>
        SQL over the tables of this project. Deployed, each answers under its name.
      </Heading>
      <Loaded query={queries}>
        {(list) =>
          list.length === 0 ? (
            <Empty icon={<FileCode2 size={20} />} action={create} guide="write-a-query">
              A query is one SELECT over the project’s tables. Write <Code>$name</Code> for what callers choose.
            </Empty>
          ) : (
            <QueryList project={project} queries={list} />
          )
        }
      </Loaded>
    </>
  )
}

function QueryList({ project, queries }: { project: Project; queries: Query[] }) {
  const { shown, field } = useSorting(queries, ({ name, description }) => `${name} ${description}`)
  const [order, onOrder] = useState<Order>({ name: 'Query', down: false })
  return (
    <>
      {field}
      {shown.length === 0 ? (
        <NoneFound what="query" />
      ) : (
        <List
          label="Queries"
          items={shown}
          what="queries"
          keyOf={({ id }) => id}
          order={order}
          onOrder={onOrder}
          opens
          columns={columnsOf(project)}
        />
      )}
    </>
  )
}

/** Where it answers, each the way to its endpoint. */
function DeployedIn({ project, query }: { project: Project; query: Query }) {
  if (query.deployments.length === 0) {
    return (
      <Text component="span" c="dimmed">
        Not deployed
      </Text>
    )
  }
  return (
    <Group gap={6} component="span" display="inline-flex">
      {query.deployments.map(({ environment, version }) => (
        <Badge
          key={environment}
          component={Link}
          href={inEnvironment(paths.query(project.id, query.name, 'try'), environment)}
          variant="default"
          radius="sm"
          tt="none"
          fw={500}
          c="var(--sluice-good-mark)"
          className={shared.badge ?? ''}
          aria-label={`${environment} v${version}, the endpoint`}
        >
          {environment} v{version}
        </Badge>
      ))}
      {query.changed && (
        <Text component="span" size="xs" c="dimmed">
          edited since
        </Text>
      )}
    </Group>
  )
}

function columnsOf(project: Project): Array<Column<Query>> {
  return [
    {
      label: 'Query',
      whole: true,
      by: ({ name }) => name,
      cell: ({ name, tags, description }) => (
        <NameCell
          href={paths.query(project.id, name)}
          name={name}
          isCode
          marks={<TagList tags={tags} />}
          about={description}
        />
      ),
    },
    { label: 'Deployed', cell: (query) => <DeployedIn project={project} query={query} /> },
    {
      label: 'Edited',
      by: ({ updated_at: at }) => at,
      cell: ({ updated_at: at }) => (
        <Text component="span" c="dimmed">
          <Ago at={at} />
        </Text>
      ),
    },
  ]
}
