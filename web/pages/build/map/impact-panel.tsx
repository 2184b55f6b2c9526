import { Button, CloseButton, Group, Text, Title } from '@mantine/core'
import { useEffect, useRef } from 'react'
import { Link } from 'wouter'
import { Ago } from '../../../parts/text/time.tsx'
import { deployPath, paths } from '../../../browser/paths.ts'
import type { Project, ProjectMap } from '../../../client/wire.ts'
import { sayCalls, type MapNode } from './graph.ts'
import { impactOf, sayImpact } from './impact.ts'
import classes from './map.module.css'
import { kindWords, statusWords } from './words.ts'

type Props = { project: Project; map: ProjectMap; node: MapNode; onClose: () => void }

/** The selection, and in words what depends on it. */
export function ImpactPanel({ project, map, node, onClose }: Props) {
  const impact = impactOf(map, node)
  const source = map.sources.find(({ id }) => node.id === `source ${id}`)
  const table = map.tables.find(({ name }) => node.id === `table ${name}`)
  const panel = useRef<HTMLElement>(null)
  const shown = node.id
  useEffect(() => {
    if (shown !== '') panel.current?.scrollTo(0, 0)
  }, [shown])
  return (
    <aside ref={panel} className={classes.panel} aria-label={`${kindWords[node.kind].one} ${node.name}`}>
      <Group justify="space-between" wrap="nowrap" align="flex-start">
        <div>
          <Text size="xs" c="dimmed">
            {kindWords[node.kind].one}
            {node.status !== null && `, ${statusWords[node.status]}`}
          </Text>
          <Title order={2} className={classes.long ?? ''}>
            {node.name}
          </Title>
        </div>
        <CloseButton aria-label="Close" onClick={onClose} />
      </Group>
      <Text aria-live="polite">{sayImpact(node, impact)}</Text>
      {source?.message !== undefined && source.message !== null && (
        <Text c="var(--sluice-danger)" className={classes.long ?? ''}>
          {source.message}
        </Text>
      )}
      {table?.as_of !== undefined && table.as_of !== null && (
        <Text c="dimmed" size="xs">
          Data fetched <Ago at={table.as_of} />
        </Text>
      )}
      <Group gap="xs">
        <Button component={Link} href={node.to} size="xs" variant="default">
          Open {kindWords[node.kind].the}
        </Button>
      </Group>
      <Around project={project} node={node} impact={impact} />
    </aside>
  )
}

type AroundProps = { project: Project; node: MapNode; impact: ReturnType<typeof impactOf> }

/** Everything before and behind it. */
function Around({ project, node, impact }: AroundProps) {
  return (
    <>
      {node.kind !== 'source' && (
        <Names
          title="Comes from"
          entries={impact.sources.map(({ id, name }) => ({ name, to: paths.connection(project.id, id) }))}
        />
      )}
      {node.kind !== 'table' && (
        <Names
          title={node.kind === 'source' ? 'Table' : 'Reads'}
          entries={impact.tables.map((name) => ({ name, to: paths.table(project.id, name) }))}
        />
      )}
      <Names
        title="Models built from it"
        entries={impact.models.map((name) => ({ name, to: paths.table(project.id, name) }))}
      />
      {node.kind !== 'query' && (
        <Names title="Queries" entries={impact.queries.map((name) => ({ name, to: paths.query(project.id, name) }))} />
      )}
      <Names
        title="Endpoints"
        entries={impact.endpoints.map(({ query, environment, version, calls }) => ({
          name: `${query} in ${environment}`,
          to: deployPath(project.id, `endpoints/${query}`, environment),
          about: `version ${version}, ${sayCalls(calls)}`,
        }))}
      />
      {node.kind !== 'caller' && (
        <Names
          title="Keys that called"
          entries={impact.keys.map(({ id, name, calls }) => ({
            name,
            to: deployPath(project.id, `keys/${id}`),
            about: sayCalls(calls),
          }))}
        />
      )}
    </>
  )
}

const most = 12

function Names({ title, entries }: { title: string; entries: Array<{ name: string; to: string; about?: string }> }) {
  if (entries.length === 0) return null
  return (
    <div>
      <Text size="xs" c="dimmed">
        {title}
      </Text>
      <ul className={classes.names} aria-label={title}>
        {entries.slice(0, most).map(({ name, to, about }) => (
          <li key={name}>
            <Link href={to}>{name}</Link>
            {about !== undefined && (
              <Text component="span" size="xs" c="dimmed">
                {' '}
                {about}
              </Text>
            )}
          </li>
        ))}
      </ul>
      {entries.length > most && (
        <Text size="xs" c="dimmed">
          and {entries.length - most} more
        </Text>
      )}
    </div>
  )
}
