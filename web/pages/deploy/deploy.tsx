import {
  Activity,
  Bell,
  ChartLine,
  KeyRound,
  MessageCircleQuestion,
  Radio,
  SquareTerminal,
  type LucideIcon,
} from 'lucide-react'
import { Link, Redirect } from 'wouter'
import { Shell } from '../../parts/shell.tsx'
import type { Project } from '../../wire.ts'
import { NotFoundPage } from '../not-found.tsx'
import rail from '../settings/settings.module.css'
import { AlertsPage } from './alerts.tsx'
import { EndpointPage } from './endpoint.tsx'
import { EndpointsPage } from './endpoints.tsx'
import { EnvironmentSwitch } from './environment-switch.tsx'
import { KeyPage } from './key.tsx'
import { KeysPage } from './keys.tsx'
import { MetricsPage } from './metrics.tsx'
import { RequestsPage } from './requests.tsx'
import { usePlace, type Place } from './place.ts'
import { QuestionsPage } from './questions.tsx'
import { TryPage } from './try.tsx'

type Section = { section: string; label: string; icon: LucideIcon }

const sections: Section[] = [
  { section: 'endpoints', label: 'Endpoints', icon: Radio },
  { section: 'try', label: 'Try it', icon: SquareTerminal },
  { section: 'metrics', label: 'Metrics', icon: ChartLine },
  { section: 'requests', label: 'Requests', icon: Activity },
  { section: 'questions', label: 'Questions', icon: MessageCircleQuestion },
  { section: 'alerts', label: 'Alerts', icon: Bell },
  { section: 'keys', label: 'API keys', icon: KeyRound },
]

/** Everything under `/p/{project}/deploy`. */
export function DeployPages({ project, page }: { project: Project; page: string }) {
  const place = usePlace(project)
  const [section = '', name, view, ...beyond] = page.split('/')
  if (section === '') return <Redirect to={place.to('endpoints')} replace />
  const shown = beyond.length > 0 ? null : pageOf(place, { section, name, view })
  if (shown === null) return <NotFoundPage />
  return (
    <Shell project={project} environment={<EnvironmentSwitch place={place} />}>
      <div className={rail['page']}>
        <nav className={rail['rail']} aria-label="Deploy">
          {sections.map(({ section: each, label, icon: Icon }) => (
            <Link
              key={each}
              ref={each === section ? keepInSight : undefined}
              href={place.to(each)}
              className={rail['entry'] ?? ''}
              aria-current={each === section ? 'page' : undefined}
            >
              <Icon size={16} aria-hidden />
              {label}
            </Link>
          ))}
        </nav>
        <div className={rail['content']}>{shown}</div>
      </div>
    </Shell>
  )
}

/** On a narrow screen the rail scrolls sideways. */
function keepInSight(entry: HTMLElement | null): void {
  entry?.scrollIntoView({ block: 'nearest', inline: 'center' })
}

type Asked = { section: string; name: string | undefined; view: string | undefined }

function pageOf(place: Place, { section, name, view }: Asked) {
  if (section === 'endpoints' && name !== undefined) {
    return <EndpointPage key={`${name} ${place.environment}`} place={place} name={name} view={view} />
  }
  if (view !== undefined) return null
  if (section === 'keys')
    return name === undefined ? <KeysPage place={place} /> : <KeyPage place={place} keyId={name} />
  if (name !== undefined) return null
  if (section === 'metrics') return <MetricsPage place={place} />
  if (section === 'requests') return <RequestsPage place={place} />
  if (section === 'alerts') return <AlertsPage place={place} />
  if (section === 'questions') return <QuestionsPage place={place} />
  if (section === 'endpoints') return <EndpointsPage place={place} />
  return section === 'try' ? <TryPage place={place} /> : null
}
