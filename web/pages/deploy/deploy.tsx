import { lazy, Suspense } from 'react'
import { Redirect, useSearch } from 'wouter'
import { askPath, tryPath } from '../../browser/paths.ts'
import { Rail } from '../../parts/shell/rail.tsx'
import { Shell } from '../../parts/shell/shell.tsx'
import { deploySections } from '../../client/sections.ts'
import type { Project } from '../../client/wire.ts'
import { NotFoundPage } from '../../parts/shell/not-found.tsx'
import { AlertsPage } from '../usage/alerts/alerts.tsx'
import { EndpointsPage } from './endpoints/endpoints.tsx'
import { EnvironmentSwitch } from './shared/environment-switch.tsx'
import { KeyPage } from '../keys/key.tsx'
import { KeysPage } from '../keys/keys.tsx'
import { MetricsPage } from '../usage/metrics.tsx'
import { ReleasePage } from '../releases/release.tsx'
import { ReleasesPage } from '../releases/releases.tsx'
import { RequestsPage } from '../usage/requests.tsx'
import { usePlace, type Place } from './shared/place.ts'
import { QuestionsPage } from '../questions/questions.tsx'

const QueryPage = lazy(async () => ({ default: (await import('../query/query-page.tsx')).QueryPage }))

/** Everything under `/p/{project}/deploy`. */
export function DeployPages({ project, page }: { project: Project; page: string }) {
  const place = usePlace(project)
  const [section = '', name, view, ...beyond] = page.split('/')
  const asked = new URLSearchParams(useSearch())
  if (section === '' || section === 'reference') {
    const to = place.to('endpoints')
    return <Redirect to={section === '' ? to : `${to}${to.includes('?') ? '&' : '?'}share`} replace />
  }
  if (section === 'try') return <Redirect to={formerTry(place, asked)} replace />
  const shown = beyond.length > 0 ? null : pageOf(place, { section, name, view })
  if (shown === null) return <NotFoundPage />
  return (
    <Shell project={project} wide environment={<EnvironmentSwitch place={place} />}>
      <Rail label="Deploy" sections={deploySections} current={section} to={place.to} isPart={name === undefined}>
        <Suspense fallback={null}>{shown}</Suspense>
      </Rail>
    </Shell>
  )
}

type Asked = { section: string; name: string | undefined; view: string | undefined }

function pageOf(place: Place, { section, name, view }: Asked) {
  if (section === 'endpoints' && name !== undefined) {
    return <QueryPage key={`${name} ${place.environment}`} place={place} tab="deploy" name={name} view={view} />
  }
  if (view !== undefined) return null
  if (section === 'keys')
    return name === undefined ? <KeysPage place={place} /> : <KeyPage place={place} keyId={name} />
  if (section === 'releases')
    return name === undefined ? <ReleasesPage place={place} /> : <ReleasePage place={place} releaseId={name} />
  if (name !== undefined) return null
  if (section === 'metrics') return <MetricsPage place={place} />
  if (section === 'requests') return <RequestsPage place={place} />
  if (section === 'alerts') return <AlertsPage place={place} />
  if (section === 'questions') return <QuestionsPage place={place} />
  return section === 'endpoints' ? <EndpointsPage place={place} /> : null
}

/** Calls and questions were tried on a page of their own; links to it still stand somewhere. */
function formerTry({ project, environment, to }: Place, asked: URLSearchParams): string {
  if (asked.get('by') === 'question') return askPath(project.id, environment, asked.get('question') ?? '')
  const name = asked.get('query')
  if (name === null) return to('endpoints')
  const values = asked.get('values')
  const path = tryPath(project.id, name, environment)
  return values === null ? path : `${path}${path.includes('?') ? '&' : '?'}${new URLSearchParams({ values })}`
}
