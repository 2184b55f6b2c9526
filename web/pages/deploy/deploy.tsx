import { Redirect } from 'wouter'
import { Rail } from '../../parts/shell/rail.tsx'
import { Shell } from '../../parts/shell/shell.tsx'
import { deploySections } from '../../client/sections.ts'
import type { Project } from '../../client/wire.ts'
import { NotFoundPage } from '../../parts/shell/not-found.tsx'
import { AlertsPage } from './alerts/alerts.tsx'
import { EndpointPage } from './endpoints/endpoint.tsx'
import { EndpointsPage } from './endpoints/endpoints.tsx'
import { EnvironmentSwitch } from './shared/environment-switch.tsx'
import { KeyPage } from './keys/key.tsx'
import { KeysPage } from './keys/keys.tsx'
import { MetricsPage } from './usage/metrics.tsx'
import { ReferencePage } from './reference/reference.tsx'
import { ReleasePage } from './releases/release.tsx'
import { ReleasesPage } from './releases/releases.tsx'
import { RequestsPage } from './usage/requests.tsx'
import { usePlace, type Place } from './shared/place.ts'
import { QuestionsPage } from './questions/questions.tsx'
import { TryPage } from './try/try.tsx'

/** Everything under `/p/{project}/deploy`. */
export function DeployPages({ project, page }: { project: Project; page: string }) {
  const place = usePlace(project)
  const [section = '', name, view, ...beyond] = page.split('/')
  if (section === '') return <Redirect to={place.to('endpoints')} replace />
  const shown = beyond.length > 0 ? null : pageOf(place, { section, name, view })
  if (shown === null) return <NotFoundPage />
  return (
    <Shell project={project} wide environment={<EnvironmentSwitch place={place} />}>
      <Rail label="Deploy" sections={deploySections} current={section} to={place.to} isPart={name === undefined}>
        {shown}
      </Rail>
    </Shell>
  )
}

type Asked = { section: string; name: string | undefined; view: string | undefined }

function pageOf(place: Place, { section, name, view }: Asked) {
  if (section === 'endpoints' && name !== undefined) {
    return <EndpointPage key={`${name} ${place.environment}`} place={place} name={name} view={view} />
  }
  if (view !== undefined) return null
  if (section === 'keys')
    return name === undefined ? <KeysPage place={place} /> : <KeyPage place={place} keyId={name} />
  if (section === 'releases')
    return name === undefined ? <ReleasesPage place={place} /> : <ReleasePage place={place} releaseId={name} />
  if (name !== undefined) return null
  if (section === 'reference') return <ReferencePage place={place} />
  if (section === 'metrics') return <MetricsPage place={place} />
  if (section === 'requests') return <RequestsPage place={place} />
  if (section === 'alerts') return <AlertsPage place={place} />
  if (section === 'questions') return <QuestionsPage place={place} />
  if (section === 'endpoints') return <EndpointsPage place={place} />
  return section === 'try' ? <TryPage place={place} /> : null
}
