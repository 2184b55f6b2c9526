import { Redirect } from 'wouter'
import { Rail } from '../../parts/rail.tsx'
import { Shell } from '../../parts/shell.tsx'
import { deploySections } from '../../sections.ts'
import type { Project } from '../../wire.ts'
import { NotFoundPage } from '../not-found.tsx'
import { AlertsPage } from './alerts.tsx'
import { EndpointPage } from './endpoint.tsx'
import { EndpointsPage } from './endpoints.tsx'
import { EnvironmentSwitch } from './environment-switch.tsx'
import { KeyPage } from './key.tsx'
import { KeysPage } from './keys.tsx'
import { MetricsPage } from './metrics.tsx'
import { ReferencePage } from './reference.tsx'
import { ReleasePage } from './release.tsx'
import { ReleasesPage } from './releases.tsx'
import { RequestsPage } from './requests.tsx'
import { usePlace, type Place } from './place.ts'
import { QuestionsPage } from './questions.tsx'
import { TryPage } from './try.tsx'

/** Everything under `/p/{project}/deploy`. */
export function DeployPages({ project, page }: { project: Project; page: string }) {
  const place = usePlace(project)
  const [section = '', name, view, ...beyond] = page.split('/')
  if (section === '') return <Redirect to={place.to('endpoints')} replace />
  const shown = beyond.length > 0 ? null : pageOf(place, { section, name, view })
  if (shown === null) return <NotFoundPage />
  return (
    <Shell project={project} wide environment={<EnvironmentSwitch place={place} />}>
      <Rail label="Deploy" sections={deploySections} current={section} to={place.to}>
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
