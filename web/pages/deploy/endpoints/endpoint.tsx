import { Badge, Button, Group, Menu } from '@mantine/core'
import { ChevronDown, FileCode2, Rocket } from 'lucide-react'
import { useState } from 'react'
import { Link } from 'wouter'
import { Heading } from '../../../parts/text/heading.tsx'
import { Loaded } from '../../../parts/text/loaded.tsx'
import { deployPath, paths } from '../../../browser/paths.ts'
import { useEnvironments } from '../../../client/queries.ts'
import { NotFoundPage } from '../../../parts/shell/not-found.tsx'
import { AskedQuestions } from '../questions/asked-questions.tsx'
import { DeploySheet, verbOf } from './deploy-sheet.tsx'
import classes from '../shared/deploy.module.css'
import { ChangedMark } from './live-table.tsx'
import { EndpointMetrics } from '../usage/metrics.tsx'
import { HistoryView } from './history.tsx'
import { findPrevious, type Move } from './moves.ts'
import { Overview } from './overview.tsx'
import type { Place } from '../shared/place.ts'
import { useDiff, useHistory, useOneQuery } from '../shared/queries.ts'
import { Console } from '../try/try.tsx'
import { UndeploySheet } from './undeploy-sheet.tsx'
import { VersionsView } from './versions.tsx'
import type { Query } from '../shared/wire.ts'

const views = [
  { view: undefined, label: 'Overview' },
  { view: 'try', label: 'Try it' },
  { view: 'versions', label: 'Versions' },
  { view: 'metrics', label: 'Metrics' },
  { view: 'questions', label: 'Questions' },
  { view: 'history', label: 'History' },
] as const

type Props = { place: Place; name: string; view: string | undefined }

/** One query as those who call it know it. */
export function EndpointPage({ place, name, view }: Props) {
  const query = useOneQuery({ projectId: place.project.id, name })
  if (!views.some((each) => each.view === view)) return <NotFoundPage />
  return (
    <Loaded query={query}>
      {(found) => {
        const live = found.deployments.find(({ environment }) => environment === place.environment)?.version ?? null
        return (
          <>
            <Heading title={name} within={place.project.name} action={<Acts place={place} query={found} live={live} />}>
              {found.description || 'It has no description yet; questions find it by its description and examples.'}
            </Heading>
            <Standing place={place} query={found} live={live} />
            <nav className={classes['views']} aria-label={name}>
              {views.map((each) => (
                <Link
                  key={each.label}
                  href={place.to(`endpoints/${name}${each.view === undefined ? '' : `/${each.view}`}`)}
                  className={classes['view'] ?? ''}
                  aria-current={each.view === view ? 'page' : undefined}
                >
                  {each.label}
                </Link>
              ))}
            </nav>
            {view === undefined && <Overview place={place} query={found} live={live} />}
            {view === 'try' && <Console place={place} name={name} version={live} />}
            {view === 'versions' && <VersionsView place={place} query={found} live={live} />}
            {view === 'metrics' && <EndpointMetrics place={place} name={name} />}
            {view === 'questions' && <AskedQuestions place={place} query={name} />}
            {view === 'history' && <HistoryView place={place} name={name} />}
          </>
        )
      }}
    </Loaded>
  )
}

type Shown = { place: Place; query: Query; live: number | null }

function Standing({ place, query, live }: Shown) {
  const changed = useChanged(place, query, live)
  return (
    <Group gap="xs" mb="md" mt="-sm">
      {live === null ? (
        <Badge variant="default" tt="none" radius="sm" size="lg">
          Not deployed in {place.environment}
        </Badge>
      ) : (
        <Badge variant="light" tt="none" radius="sm" size="lg" c="var(--sluice-accent-text)" className="numbers">
          Version {live} in {place.environment}
        </Badge>
      )}
      {query.deployments
        .filter(({ environment }) => environment !== place.environment)
        .map(({ environment, version }) => (
          <Badge
            key={environment}
            component={Link}
            href={deployPath(place.project.id, `endpoints/${query.name}`, environment)}
            variant="default"
            tt="none"
            radius="sm"
            size="lg"
            className="numbers"
            style={{ cursor: 'pointer' }}
          >
            Version {version} in {environment}
          </Badge>
        ))}
      {changed && <ChangedMark />}
    </Group>
  )
}

/** Whether the draft is not what is live here, word for word. */
function useChanged({ project }: Place, query: Query, live: number | null): boolean {
  const diff = useDiff({ projectId: project.id, name: query.name }, live, 'draft')
  return live !== null && (diff.data?.diff ?? '') !== ''
}

type Open = Move | { kind: 'undeploy' } | null

function Acts({ place, query, live }: Shown) {
  const { project, environment, editor } = place
  const environments = useEnvironments(project.id)
  const history = useHistory({ projectId: project.id, name: query.name })
  const changed = useChanged(place, query, live)
  const [open, setOpen] = useState<Open>(null)
  const toDraft = (
    <Button
      component={Link}
      href={paths.query(project.id, query.name)}
      variant="default"
      leftSection={<FileCode2 size={16} aria-hidden />}
    >
      {editor ? 'Edit query' : 'Open query'}
    </Button>
  )
  if (!editor) return toDraft
  const others = (environments.data ?? []).filter(({ name }) => name !== environment)
  const previous = findPrevious(history.data ?? [], environment)
  const deployable = live === null || changed
  const close = (): void => setOpen(null)
  return (
    <Group gap="sm">
      {toDraft}
      <Button
        leftSection={<Rocket size={16} aria-hidden />}
        variant={deployable ? 'filled' : 'default'}
        onClick={() => setOpen({ kind: 'deploy', environment })}
      >
        Deploy
      </Button>
      {live !== null && (
        <Menu position="bottom-end" shadow="md" withinPortal={false} withInitialFocusPlaceholder={false}>
          <Menu.Target>
            <Button
              variant="default"
              rightSection={<ChevronDown size={14} aria-hidden />}
              aria-label={`More for ${query.name}`}
            >
              More
            </Button>
          </Menu.Target>
          <Menu.Dropdown miw={220}>
            {others.map(({ name }) => (
              <Menu.Item key={name} onClick={() => setOpen({ kind: 'promote', from: environment, environment: name })}>
                {verbOf({ kind: 'promote', from: environment, environment: name })} to {name}…
              </Menu.Item>
            ))}
            {previous !== null && (
              <Menu.Item onClick={() => setOpen({ kind: 'rollback', environment, version: previous })}>
                Roll back to version {previous}…
              </Menu.Item>
            )}
            <Menu.Item c="var(--sluice-danger)" onClick={() => setOpen({ kind: 'undeploy' })}>
              Undeploy from {environment}…
            </Menu.Item>
          </Menu.Dropdown>
        </Menu>
      )}
      {open !== null && open.kind !== 'undeploy' && (
        <DeploySheet projectId={project.id} name={query.name} move={open} onClose={close} />
      )}
      {open?.kind === 'undeploy' && live !== null && <UndeploySheet place={place} name={query.name} onClose={close} />}
    </Group>
  )
}
