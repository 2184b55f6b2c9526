import '@xyflow/react/dist/style.css'
import { useComputedColorScheme } from '@mantine/core'
import { useElementSize } from '@mantine/hooks'
import {
  Background,
  Handle,
  Position,
  ReactFlow,
  type Edge,
  type Node,
  type NodeProps,
  type ReactFlowInstance,
} from '@xyflow/react'
import { Cable, Database, FileCode2, FileJson, Gauge, type LucideIcon } from 'lucide-react'
import { useEffect, useMemo, useState } from 'react'
import { useLocation } from 'wouter'
import { Loaded } from '../../../parts/text/loaded.tsx'
import { paths } from '../../../browser/paths.ts'
import type { Project } from '../../../client/wire.ts'
import { useLineage } from '../shared/asked.ts'
import type { DescribedObject, Lineage } from '../shared/wire.ts'
import classes from './lineage.module.css'

type LineageNode = Lineage['nodes'][number]
type Kind = LineageNode['kind']
type Card = Node<{ kind: Kind; label: string; to: string | null; enters: Position; leaves: Position }, 'card'>

const kinds: Record<Kind, { column: number; words: string; icon: LucideIcon }> = {
  datasource: { column: 0, words: 'Connection', icon: Cable },
  request_config: { column: 1, words: 'Request', icon: FileJson },
  load: { column: 1, words: 'Load', icon: FileJson },
  response_data: { column: 2, words: 'Table', icon: Database },
  prepared: { column: 3, words: 'Copy that is served', icon: Gauge },
  rejected_values: { column: 2, words: 'Values kept aside', icon: FileJson },
  query: { column: 3, words: 'Deployed query', icon: FileCode2 },
}

const fit = { padding: 0.12, maxZoom: 1 }
const nodeTypes = { card: CardNode }

/** From the source over its rows to what is deployed on them. */
export function LineageView({ project, object }: { project: Project; object: DescribedObject }) {
  const lineage = useLineage(project.id, object.id)
  return <Loaded query={lineage}>{(graph) => <Graph project={project} object={object} graph={graph} />}</Loaded>
}

type GraphProps = { project: Project; object: DescribedObject; graph: Lineage }

function Graph({ project, object, graph }: GraphProps) {
  const scheme = useComputedColorScheme('light')
  const [, navigate] = useLocation()
  const { ref, width } = useElementSize()
  const down = width > 0 && width < narrow
  const { nodes, edges } = useMemo(
    () => layOut(graph, { down, pathOf: (node) => pathOf(project.id, object, node) }),
    [project.id, object, graph, down],
  )
  const [flow, setFlow] = useState<ReactFlowInstance<Card> | null>(null)
  useEffect(() => {
    if (width > 0 && nodes.length > 0) void flow?.fitView(fit)
  }, [flow, width, nodes])
  return (
    <div ref={ref} className={classes.graph} style={down ? { height: nodes.length * rowHeight + 40 } : undefined}>
      <ReactFlow
        // Where lines begin and end is measured once.
        key={down ? 'down' : 'across'}
        nodes={nodes}
        edges={edges}
        nodeTypes={nodeTypes}
        colorMode={scheme}
        fitView
        fitViewOptions={fit}
        onInit={setFlow}
        minZoom={0.2}
        nodesDraggable={false}
        nodesConnectable={false}
        edgesFocusable={false}
        preventScrolling={false}
        proOptions={{ hideAttribution: true }}
        aria-label={`Lineage of ${object.table_name}`}
        onNodeClick={(_event, { data }) => data.to !== null && navigate(data.to)}
      >
        <Background gap={20} />
      </ReactFlow>
    </div>
  )
}

function CardNode({ data: { kind, label, enters, leaves } }: NodeProps<Card>) {
  const { words, icon: Icon } = kinds[kind]
  return (
    <div className={classes.card} data-kind={kind}>
      <Handle type="target" position={enters} className={classes.handle} isConnectable={false} />
      <Icon size={16} aria-hidden />
      <span className={classes.words}>
        <span className={classes.kind}>{words}</span>
        <span className={classes.label}>{label}</span>
      </span>
      <Handle type="source" position={leaves} className={classes.handle} isConnectable={false} />
    </div>
  )
}

const columnWidth = 270
const rowHeight = 84
const indent = 32
/** Below this width the graph runs down instead of across. */
const narrow = 560

type Placed = Pick<Card, 'position'> & Pick<Card['data'], 'enters' | 'leaves'>

/** Kinds have their columns, from left to right; within one they stand under each other around the middle. */
function across(column: number, index: number, members: number): Placed {
  const position = { x: column * columnWidth, y: (index - (members - 1) / 2) * rowHeight }
  return { position, enters: Position.Left, leaves: Position.Right }
}

/** One under the other, as wide as a phone; several of a kind are indented, and their lines pass beside them. */
function downwards(row: number, members: number): Placed {
  const isOneOfMany = members > 1
  const position = { x: isOneOfMany ? indent : 0, y: row * rowHeight }
  return { position, enters: isOneOfMany ? Position.Left : Position.Top, leaves: Position.Bottom }
}

function layOut(
  graph: Lineage,
  { down, pathOf }: { down: boolean; pathOf: (node: LineageNode) => string | null },
): { nodes: Card[]; edges: Edge[] } {
  const columns = [...Map.groupBy(graph.nodes, ({ kind }) => kinds[kind].column)].sort(([a], [b]) => a - b)
  let row = 0
  const nodes = columns.flatMap(([column, members]) =>
    members.map(({ id, kind, label }, index): Card => {
      const placed = down ? downwards(row, members.length) : across(column, index, members.length)
      row += 1
      const { position, enters, leaves } = placed
      return {
        id,
        type: 'card',
        position,
        data: { kind, label, to: pathOf({ id, kind, label }), enters, leaves },
        ariaLabel: `${kinds[kind].words} ${label}`,
      }
    }),
  )
  const names = new Map(nodes.map(({ id, ariaLabel }) => [id, ariaLabel]))
  const edges = graph.edges.map(({ from, to }) => ({
    id: `${from} ${to}`,
    source: from,
    target: to,
    focusable: false,
    ariaLabel: `${names.get(from) ?? from} leads to ${names.get(to) ?? to}`,
    ...(down && { type: 'smoothstep' }),
  }))
  return { nodes, edges }
}

function pathOf(projectId: string, object: DescribedObject, { id, kind, label }: LineageNode) {
  if (kind === 'datasource') return paths.connection(projectId, id)
  if (kind === 'query') return paths.query(projectId, label)
  return kind === 'response_data' ? paths.table(projectId, object.table_name, 'rows') : null
}
