import { lazy } from 'react'
import { Loaded } from '../../parts/text/loaded.tsx'
import { NotFoundPage } from '../../parts/shell/not-found.tsx'
import type { Project } from '../../client/wire.ts'
import { usePlace, type Place } from '../deploy/shared/place.ts'
import { useOneQuery } from '../deploy/shared/queries.ts'
import { AskedQuestions } from '../questions/asked-questions.tsx'
import { EndpointMetrics } from '../usage/metrics.tsx'
import { QueryHeader } from './header/header.tsx'
import { viewOf, type Tab } from './header/place.ts'
import { TryView } from './try/try-view.tsx'
import { VersionsView } from './versions/versions.tsx'

/** The editor of SQL is the half of it. */
const EditView = lazy(async () => ({ default: (await import('./edit/edit-view.tsx')).EditView }))

type Props = { place: Place; tab: Tab; name: string; view: string | undefined }

/** A query and its endpoint, which are one thing: what is written, what answers, and how it is used. */
export function QueryPage({ place, tab, name, view: asked }: Props) {
  const query = useOneQuery({ projectId: place.project.id, name })
  const view = viewOf(tab, asked)
  if (view === null) return <NotFoundPage />
  return (
    <Loaded query={query}>
      {(found) => {
        const live = found.deployments.find(({ environment }) => environment === place.environment)?.version ?? null
        const shown = { place, tab, view, query: found, live }
        if (view === 'edit') return <EditView {...shown} />
        return (
          <>
            <QueryHeader {...shown} />
            {view === 'try' && <TryView place={place} query={found} live={live} />}
            {view === 'versions' && <VersionsView place={place} query={found} live={live} />}
            {view === 'usage' && <EndpointMetrics place={place} name={name} />}
            {view === 'questions' && <AskedQuestions place={place} query={name} />}
          </>
        )
      }}
    </Loaded>
  )
}

/** A query that nobody has named yet: to try SQL, and to save what is good. */
export function NewQueryPage({ project, table }: { project: Project; table: string }) {
  const place = usePlace(project)
  return <EditView key={table} place={place} tab="build" view="edit" query={null} live={null} table={table} />
}
