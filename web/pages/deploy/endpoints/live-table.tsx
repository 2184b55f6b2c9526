import { Anchor, Badge, Button, Group, Text, Tooltip } from '@mantine/core'
import { Link } from 'wouter'
import { List, NameCell, type Column } from '../../../parts/table/list.tsx'
import { Sparkline } from '../../../parts/chart/sparkline.tsx'
import { Ago } from '../../../parts/text/time.tsx'
import { useAddress } from '../../../parts/text/address.ts'
import type { Place } from '../shared/place.ts'
import { useQueryFigures } from '../shared/usage-queries.ts'
import type { QueryFigures } from '../shared/usage-wire.ts'
import { isNewer } from '../../query/header/header.tsx'
import { Who } from '../shared/who.tsx'
import type { LiveDeployment, Query } from '../shared/wire.ts'
import { sayCount } from '../../../text/words.ts'
import { sayMs, sayShare } from '../shared/words.ts'

type Figures = QueryFigures['data'][number] | undefined
type Endpoint = { live: LiveDeployment; query: Query | undefined; figures: Figures; isKnown: boolean }

type Props = { place: Place; live: LiveDeployment[]; queries: Query[]; onDeploy: (name: string) => void }

/** The endpoints, with the calls of a week and how that compares with the week before. */
export function LiveTable({ place, live, queries, onDeploy }: Props) {
  const { asked, choose } = useAddress()
  const figures = useQueryFigures(place.project.id, place.environment)
  const endpoints = live.map((each): Endpoint => ({
    live: each,
    query: queries.find(({ name }) => name === each.name),
    figures: figures.data?.data.find(({ query }) => query === each.name),
    isKnown: figures.data !== undefined,
  }))
  const columns = columnsOf(place, onDeploy)
  const wanted = asked.get('sort') ?? 'name'
  const name = columns.some((column) => column.name === wanted) ? wanted : 'name'
  return (
    <List
      label={`Deployed in ${place.environment}`}
      columns={columns}
      items={endpoints}
      what="endpoints"
      keyOf={({ live: { name: key } }) => key}
      order={{ name, down: asked.get('order') === 'down' }}
      onOrder={(order) => choose({ sort: order.name, order: order.down ? 'down' : '' })}
      opens
    />
  )
}

function columnsOf(place: Place, onDeploy: (name: string) => void): Array<Column<Endpoint>> {
  return [
    {
      name: 'name',
      label: 'Endpoint',
      whole: true,
      by: ({ live }) => live.name,
      cell: ({ live }) => (
        <NameCell href={place.to(`endpoints/${live.name}`)} name={live.name} isCode about={live.description} />
      ),
    },
    ...figureColumns(place),
    {
      name: 'version',
      label: 'Version',
      by: ({ live }) => live.version,
      cell: ({ live, query }) => <VersionCell place={place} live={live} query={query} onDeploy={onDeploy} />,
    },
    {
      name: 'deployed',
      label: 'Deployed',
      by: ({ live }) => live.deployed_at,
      cell: ({ live }) => (
        <Text component="span" c="dimmed">
          <Ago at={live.deployed_at} /> by <Who place={place} label={live.deployed_by} />
        </Text>
      ),
    },
  ]
}

function figureColumns(place: Place): Array<Column<Endpoint>> {
  return [
    {
      name: 'calls',
      label: 'Calls in a week',
      figure: true,
      by: ({ figures }) => figures?.requests ?? 0,
      cell: ({ live, figures, isKnown }) => (
        <Group gap="xs" justify="flex-end" wrap="nowrap">
          {figures !== undefined && <Sparkline values={figures.days} />}
          {isKnown && (
            <Anchor
              component={Link}
              href={withQuery(place.to('metrics'), live.name)}
              className="numbers"
              aria-label={`${sayCount(figures?.requests ?? 0, 'call')} in a week`}
            >
              {(figures?.requests ?? 0).toLocaleString('en')}
            </Anchor>
          )}
        </Group>
      ),
    },
    {
      name: 'trend',
      label: 'vs last week',
      figure: true,
      by: ({ figures }) => growthOf(figures),
      cell: ({ figures }) => <Trend figures={figures} />,
    },
    {
      name: 'errors',
      label: 'Errors',
      figure: true,
      by: ({ figures }) => (figures === undefined || figures.requests === 0 ? null : figures.error_rate),
      // On a phone a cell without anything in it is left out with its name.
      cell: ({ figures }) =>
        figures === undefined || figures.requests === 0 ? null : (
          <Text component="span" className="numbers" {...(figures.errors > 0 && { c: 'var(--sluice-danger)' })}>
            {sayShare(figures.error_rate)}
          </Text>
        ),
    },
    {
      name: 'p95',
      label: 'p95',
      figure: true,
      by: ({ figures }) => figures?.p95_ms ?? null,
      cell: ({ figures }) =>
        figures === undefined || figures.p95_ms === null ? null : (
          <span className="numbers">{sayMs(figures.p95_ms)}</span>
        ),
    },
  ]
}

/** How much more or less than in the week before, as a share; null where there was nothing to compare with. */
function growthOf(figures: Figures): number | null {
  if (figures === undefined || figures.before.requests === 0) return null
  return figures.requests / figures.before.requests - 1
}

function Trend({ figures }: { figures: Figures }) {
  const growth = growthOf(figures)
  if (figures === undefined) return null
  if (growth === null) return figures.requests > 0 ? <Text component="span">–</Text> : null
  const percent = Math.round(growth * 100)
  const words = percent === 0 ? 'as before' : `${percent > 0 ? '+' : '−'}${Math.abs(percent).toLocaleString('en')} %`
  const { requests, error_rate: errors, p95_ms: slow } = figures.before
  return (
    <Tooltip
      label={`The week before: ${requests.toLocaleString('en')} calls, ${sayShare(errors)} errors, p95 ${sayMs(slow)}`}
      multiline
      maw={260}
    >
      <Text component="span" className="numbers" tabIndex={0}>
        {words}
      </Text>
    </Tooltip>
  )
}

type VersionProps = { place: Place; live: LiveDeployment; query: Query | undefined; onDeploy: (name: string) => void }

function VersionCell({ place, live, query, onDeploy }: VersionProps) {
  const newer = query !== undefined && isNewer(query, live.version)
  return (
    <Group gap="xs" wrap="nowrap">
      <Badge variant="default" tt="none" radius="sm" fw={500} miw="max-content" className="numbers">
        v{live.version}
      </Badge>
      {newer && <ChangedMark />}
      {place.editor && newer && (
        <Button
          variant="default"
          size="compact-xs"
          onClick={() => onDeploy(live.name)}
          aria-label={`Deploy ${live.name} again`}
        >
          Deploy
        </Button>
      )}
    </Group>
  )
}

function withQuery(path: string, name: string): string {
  return `${path}${path.includes('?') ? '&' : '?'}query=${name}&hours=168`
}

function ChangedMark() {
  return (
    <Tooltip label="The draft is not what callers get here.">
      <Badge
        variant="light"
        color="yellow"
        tt="none"
        radius="sm"
        miw="max-content"
        c="var(--mantine-color-text)"
        tabIndex={0}
      >
        Changed
      </Badge>
    </Tooltip>
  )
}
