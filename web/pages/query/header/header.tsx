import { Button, Group, Text } from '@mantine/core'
import { Rocket } from 'lucide-react'
import { useState, type ReactNode } from 'react'
import { Link } from 'wouter'
import { Heading } from '../../../parts/text/heading.tsx'
import { sayCount } from '../../../text/words.ts'
import { TagList } from '../../build/shared/tags.tsx'
import { placeIn, type Place } from '../../deploy/shared/place.ts'
import { useQueryFigures } from '../../deploy/shared/usage-queries.ts'
import type { Query } from '../../deploy/shared/wire.ts'
import { DeploySheet } from '../deploying/deploy-sheet.tsx'
import type { Move } from '../deploying/moves.ts'
import { UndeploySheet } from '../deploying/undeploy-sheet.tsx'
import classes from './header.module.css'
import { viewPath, views, type Tab, type View } from './place.ts'
import { QueryMenu } from './query-menu.tsx'

export type Shown = { place: Place; tab: Tab; view: View; query: Query; live: number | null }

type Opened = Move | { kind: 'undeploy' } | null

type Props = Shown & {
  /** Acts on the text that is edited, before those that every view has. */
  acts?: ReactNode
  /** Whether there is more to deploy than is saved. */
  isEdited?: boolean
  /** Saves what is edited and goes on; without it the saved draft is deployed. */
  beforeDeploy?: (goOn: () => void) => void
  canDeploy?: boolean
  /** Whether the sheet opens with the page. */
  isDeploying?: boolean
}

/** Name, state and acts of a query, the same on each of its views. */
export function QueryHeader(props: Props) {
  const { place, tab, view, query, live, acts, isEdited = false, canDeploy = true, isDeploying = false } = props
  const { project, environment, editor } = place
  const deploy: Move = { kind: 'deploy', environment }
  const [opened, open] = useState<Opened>(isDeploying ? deploy : null)
  const close = (): void => open(null)
  const toDeploy = (): void => (props.beforeDeploy ?? ((goOn) => goOn()))(() => open(deploy))
  return (
    <>
      <Heading
        title={query.name}
        within={project.name}
        action={
          editor ? (
            <Group gap="xs">
              {acts}
              <QueryMenu
                place={place}
                query={query}
                live={live}
                onMove={open}
                onUndeploy={() => open({ kind: 'undeploy' })}
              />
              <Button
                leftSection={<Rocket size={16} aria-hidden />}
                variant={live === null || isEdited || isNewer(query, live) ? 'filled' : 'default'}
                disabled={!canDeploy}
                onClick={toDeploy}
              >
                Deploy…
              </Button>
            </Group>
          ) : undefined
        }
      >
        <StateLine place={place} tab={tab} view={view} query={query} live={live} /> <TagList tags={query.tags} />
        {!editor && ' · You are a viewer here: an editor changes and deploys it.'}
      </Heading>
      <nav className={classes.views} aria-label={query.name}>
        {views.map((each) => (
          <Link
            key={each.view}
            href={viewPath(place, tab, query.name, each.view)}
            className={classes.view ?? ''}
            aria-current={each.view === view ? 'page' : undefined}
          >
            {each.label}
          </Link>
        ))}
      </nav>
      {opened !== null && opened.kind !== 'undeploy' && (
        <DeploySheet projectId={project.id} name={query.name} move={opened} onClose={close} />
      )}
      {opened?.kind === 'undeploy' && live !== null && (
        <UndeploySheet place={place} name={query.name} onClose={close} />
      )}
    </>
  )
}

/** Where it answers, how much that is called, and whether the draft is ahead. */
function StateLine({ place, tab, view, query, live }: Shown) {
  const { project, environment } = place
  const figures = useQueryFigures(project.id, environment)
  const today = figures.data?.data.find((each) => each.query === query.name)?.days.at(-1) ?? 0
  const others = query.deployments.filter((each) => each.environment !== environment)
  return (
    <Text component="span" className="numbers">
      <span className={classes.dot} data-live={live !== null || undefined} aria-hidden />
      {live === null ? `Not deployed in ${environment}` : `Live: v${live} in ${environment}`}
      {live !== null && figures.data !== undefined && `, ${sayCount(today, 'call')} today`}
      {others.map((each) => (
        <span key={each.environment}>
          {' · '}
          <Link href={viewPath(placeIn(project, each.environment), tab, query.name, view)}>
            v{each.version} in {each.environment}
          </Link>
        </span>
      ))}
      {live !== null && isNewer(query, live) && ' · draft has changes'}
    </Text>
  )
}

/** Whether what would be deployed now is not what is live. */
export function isNewer({ changed, deployments }: Query, live: number): boolean {
  return changed || deployments.some(({ version }) => version > live)
}
