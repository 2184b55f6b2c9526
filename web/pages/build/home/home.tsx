import { Text } from '@mantine/core'
import { Fragment } from 'react'
import { Link } from 'wouter'
import { deployPath, paths, usualEnvironment } from '../../../browser/paths.ts'
import { useJobEvents } from '../../../client/jobs.ts'
import type { Project, ProjectMap } from '../../../client/wire.ts'
import { Sparkline } from '../../../parts/chart/sparkline.tsx'
import { Rows } from '../../../parts/table/rows.tsx'
import { Card } from '../../../parts/text/card.tsx'
import { Heading } from '../../../parts/text/heading.tsx'
import { Loaded } from '../../../parts/text/loaded.tsx'
import { Water } from '../../../parts/text/water.tsx'
import { Ago } from '../../../parts/text/time.tsx'
import { sayCount, sayNumber } from '../../../text/words.ts'
import { usePlace } from '../../deploy/shared/place.ts'
import { useReleases } from '../../releases/release-acts.ts'
import { sayRelease } from '../../releases/release-words.ts'
import { useMetrics, useMetricsBefore } from '../../deploy/shared/usage-queries.ts'
import { Who } from '../../deploy/shared/who.tsx'
import { sayGrowth, sayShare } from '../../deploy/shared/words.ts'
import { useProjectMap } from '../shared/project-map.ts'
import { Attention } from './attention.tsx'
import { useChecklist } from './checklist.ts'
import classes from './home.module.css'
import { Steps } from './steps.tsx'

/** Events at the sources arrive at once; calls are polled this often. */
const lookMs = 15_000
const week = { hours: 7 * 24 }

/** The project at a glance: what flows through it, what needs somebody, and what changed. A new one has its steps here. */
export function HomePage({ project }: { project: Project }) {
  const map = useProjectMap(project, lookMs)
  const { steps, isKnown, isDone } = useChecklist(project)
  useJobEvents(project.id, true)
  return (
    <>
      <Heading title="Home" within={project.name} />
      {isKnown && !isDone && project.role !== 'viewer' && <Steps project={project} steps={steps} />}
      <Loaded query={map}>
        {(found) =>
          (found.sources.length > 0 || found.queries.length > 0) && (
            <>
              <Flow project={project} map={found} />
              <div className={classes.cards}>
                <Attention project={project} map={found} />
                <Week project={project} />
                <Changes project={project} />
              </div>
            </>
          )
        }
      </Loaded>
    </>
  )
}

/** From where data comes to who calls, in four figures, each the way to what it counts. */
function Flow({ project: { id }, map }: { project: Project; map: ProjectMap }) {
  const sources = map.sources.filter(({ kind }) => kind !== 'model').length
  const rows = map.tables.reduce((sum, table) => sum + (table.rows ?? 0), 0)
  const live = map.queries.filter(({ deployments }) =>
    deployments.some(({ environment }) => environment === usualEnvironment),
  ).length
  const calls = map.environments.find(({ name }) => name === usualEnvironment)?.calls ?? 0
  const callers = map.callers.length + map.left_out.callers
  const parts = [
    { count: sources, noun: 'connection', about: 'APIs and files', to: paths.data(id) },
    { count: map.tables.length, noun: 'table', about: sayCount(rows, 'row'), to: paths.data(id) },
    { count: live, noun: 'endpoint', about: `${sayCount(calls, 'call')} in a day`, to: deployPath(id) },
    { count: callers, noun: 'caller', about: 'keys that called in 30 days', to: deployPath(id, 'keys') },
  ]
  return (
    <section aria-label="What flows through" className={classes.flow}>
      {parts.map(({ count, noun, about, to }, at) => (
        <Fragment key={noun}>
          {at > 0 && (
            <div className={classes.arrow}>
              <Water />
            </div>
          )}
          <Link href={to} className={classes.part} data-none={count === 0 || undefined}>
            <span className={`numbers ${classes.count}`}>{sayNumber(count)}</span>{' '}
            <span>{count === 1 ? noun : `${noun}s`}</span>
            <Text component="span" size="xs" c="dimmed" display="block">
              {about}
            </Text>
          </Link>
        </Fragment>
      ))}
    </section>
  )
}

function Week({ project }: { project: Project }) {
  const filter = { environment: usualEnvironment, interval: '1d' as const }
  const metrics = useMetrics(project.id, filter, week)
  const before = useMetricsBefore(project.id, filter, week)
  return (
    <Card title="Calls of this week" about={`In ${usualEnvironment}.`}>
      <Loaded query={metrics}>
        {({ totals, series }) => {
          const growth = sayGrowth(totals.requests, before.data?.totals.requests, 'the week before')
          return (
            <>
              <div className={classes.week}>
                <Link
                  href={`${deployPath(project.id, 'metrics')}?hours=${week.hours}`}
                  className={`numbers ${classes.calls}`}
                  aria-label={`${sayCount(totals.requests, 'call')} this week`}
                >
                  {sayNumber(totals.requests)}
                </Link>
                <Sparkline values={series.map(({ requests }) => requests)} />
              </div>
              <Text c="dimmed" className="numbers">
                {[
                  growth,
                  totals.requests === 0
                    ? 'Nothing was called.'
                    : `${sayShare(totals.error_rate)} errors (${sayNumber(totals.errors)})`,
                ]
                  .filter((each) => each !== '')
                  .join(', ')}
              </Text>
            </>
          )
        }}
      </Loaded>
    </Card>
  )
}

const mostChanges = 6

function Changes({ project }: { project: Project }) {
  const place = usePlace(project)
  const releases = useReleases(project.id, usualEnvironment)
  return (
    <Card title="Last changes" about={`What was released to ${usualEnvironment}.`}>
      <Loaded query={releases}>
        {(list) =>
          list.length === 0 ? (
            <Text c="dimmed">Nothing has been released yet.</Text>
          ) : (
            <Rows label="Last changes">
              {list.slice(0, mostChanges).map((release) => (
                <li key={release.id} className={classes.change}>
                  <Link href={deployPath(project.id, `releases/${release.id}`)}>
                    {release.message ?? sayRelease(release).replace(/^./, (letter) => letter.toUpperCase())}
                  </Link>
                  <Text size="xs" c="dimmed">
                    <Who place={place} label={release.created_by} /> <Ago at={release.created_at} />
                  </Text>
                </li>
              ))}
            </Rows>
          )
        }
      </Loaded>
    </Card>
  )
}
