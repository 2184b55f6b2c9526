import { Button, Group, Switch, Text, TextInput } from '@mantine/core'
import { useElementSize } from '@mantine/hooks'
import { Search, Waypoints } from 'lucide-react'
import { useMemo, useState } from 'react'
import { Link, useLocation, useSearch } from 'wouter'
import { useJobEvents } from '../../../client/jobs.ts'
import { Empty } from '../../../parts/text/empty.tsx'
import { Heading } from '../../../parts/text/heading.tsx'
import { Loaded } from '../../../parts/text/loaded.tsx'
import { paths } from '../../../browser/paths.ts'
import type { Project, ProjectMap } from '../../../client/wire.ts'
import { useProjectMap } from '../shared/project-map.ts'
import { Columns } from './columns.tsx'
import { connectedTo, drawnFrom, edgesOf, type Graph, type MapNode } from './graph.ts'
import { ImpactPanel } from './impact-panel.tsx'
import classes from './map.module.css'

/** Events at the sources arrive at once; calls are polled this often. */
const lookMs = 15_000

/** From the sources to the callers: the whole project in one picture. */
export function MapPage({ project }: { project: Project }) {
  const map = useProjectMap(project, lookMs)
  useJobEvents(project.id, true)
  return (
    <>
      <Heading title="Map" within={project.name}>
        From where data comes to who calls. Select anything to see what depends on it.
      </Heading>
      <Loaded query={map}>
        {(found) =>
          found.sources.length === 0 && found.queries.length === 0 ? (
            <Empty
              icon={<Waypoints size={20} />}
              action={
                <Button component={Link} href={paths.data(project.id)}>
                  Go to data
                </Button>
              }
            >
              There is nothing to draw yet. The map begins with the first connection.
            </Empty>
          ) : (
            <WholeMap project={project} map={found} />
          )
        }
      </Loaded>
    </>
  )
}

/** From so many on, what is not connected to what was selected stands in the way. */
const many = 60

function WholeMap({ project, map }: { project: Project; map: ProjectMap }) {
  const graph = useMemo(() => drawnFrom(project.id, map), [project.id, map])
  const edges = useMemo(() => edgesOf(map, graph.ways), [map, graph])
  const size = graph.columns.reduce((sum, { nodes }) => sum + nodes.length, 0)
  const [typed, setTyped] = useState('')
  const [only, setOnly] = useState(size > many)
  const [troubled, setTroubled] = useState(false)
  const { selected, select } = useSelected(graph)
  const { ref, width } = useElementSize<HTMLDivElement>()
  const connected = useMemo(
    () => (selected === null ? null : connectedTo(map, graph.ways, new Set([selected.id]))),
    [map, graph, selected],
  )
  const found = useMemo(() => matching(map, graph, { typed, troubled }), [map, graph, typed, troubled])
  const isShown = ({ id }: MapNode): boolean =>
    (found === null || found.has(id)) && (!only || connected === null || connected.has(id))
  const columns = graph.columns.map(({ kind, nodes }) => ({ kind, nodes: nodes.filter(isShown), all: nodes.length }))
  return (
    <>
      <Group gap="md" mb="md" align="center">
        <TextInput
          aria-label="Find in the map"
          placeholder="A name or a tag"
          leftSection={<Search size={15} aria-hidden />}
          value={typed}
          onChange={(event) => setTyped(event.currentTarget.value)}
          className={classes.search ?? ''}
        />
        <Switch
          label="Only what is connected"
          checked={only}
          onChange={(event) => setOnly(event.currentTarget.checked)}
        />
        <Switch
          label="Only trouble"
          checked={troubled}
          onChange={(event) => setTroubled(event.currentTarget.checked)}
        />
        <Text size="xs" c="dimmed" component="output">
          {sayTrouble(graph)}
        </Text>
      </Group>
      <div className={classes.page} data-selected={selected !== null || undefined}>
        <div ref={ref} className={classes.map}>
          <Columns
            columns={columns}
            edges={edges}
            width={width}
            connected={connected}
            selected={selected?.id ?? null}
            onSelect={(id) => select(id === selected?.id ? null : id)}
          />
          {(map.left_out.queries > 0 || map.left_out.callers > 0) && (
            <Text size="xs" c="dimmed" mt="sm">
              Not in the map: {map.left_out.queries} queries and {map.left_out.callers} callers more than it holds.
            </Text>
          )}
        </div>
        {selected !== null && <ImpactPanel project={project} map={map} node={selected} onClose={() => select(null)} />}
      </div>
    </>
  )
}

/** In the address, so that a link shows what its sender saw. */
function useSelected({ columns }: Graph): { selected: MapNode | null; select: (id: string | null) => void } {
  const [path, navigate] = useLocation()
  const id = new URLSearchParams(useSearch()).get('of')
  const selected = columns.flatMap(({ nodes }) => nodes).find((node) => node.id === id) ?? null
  return {
    selected,
    select: (next) =>
      navigate(next === null ? path : `${path}?${new URLSearchParams({ of: next })}`, { replace: true }),
  }
}

type Sought = { typed: string; troubled: boolean }

/** The nodes with that name and everything connected to them; null where nothing is sought. */
function matching(map: ProjectMap, { columns, ways }: Graph, { typed, troubled }: Sought): Set<string> | null {
  const words = typed.trim().toLowerCase()
  if (words === '' && !troubled) return null
  const named = columns
    .flatMap(({ nodes }) => nodes)
    .filter(({ status }) => !troubled || status === 'failing' || status === 'waiting' || status === 'stale')
    .filter(({ name, tags }) => [name, ...tags].some((each) => each.toLowerCase().includes(words)))
  return connectedTo(map, ways, new Set(named.map(({ id }) => id)))
}

function sayTrouble({ columns }: Graph): string {
  const nodes = columns.flatMap((column) => column.nodes)
  const count = (status: MapNode['status']): number => nodes.filter((node) => node.status === status).length
  const words = [
    [count('failing'), 'failing'],
    [count('waiting'), 'waiting for you'],
    [count('stale'), 'stale'],
  ] as const
  const trouble = words.filter(([number]) => number > 0).map(([number, word]) => `${number} ${word}`)
  return trouble.length === 0 ? 'Nothing is failing or stale.' : `${trouble.join(', ')}.`
}
