import { lazy, Suspense } from 'react'
import { Redirect, useSearch } from 'wouter'
import { Rail } from '../../parts/shell/rail.tsx'
import { Shell } from '../../parts/shell/shell.tsx'
import { paths } from '../../browser/paths.ts'
import { buildSections } from '../../client/sections.ts'
import type { Project } from '../../client/wire.ts'
import { NotFoundPage } from '../../parts/shell/not-found.tsx'
import { DataSection } from './data/data-list.tsx'
import { QueriesSection } from './queries/queries.tsx'
import { TablePage } from './data/table-page.tsx'
import { EnvironmentSwitch } from '../deploy/shared/environment-switch.tsx'
import { usePlace, type Place } from '../deploy/shared/place.ts'

const HomePage = lazy(async () => ({ default: (await import('./home/home.tsx')).HomePage }))
const MapPage = lazy(async () => ({ default: (await import('./map/map-page.tsx')).MapPage }))
const ConnectionPage = lazy(async () => ({
  default: (await import('./connections/connection-page.tsx')).ConnectionPage,
}))
const CatalogPage = lazy(async () => ({ default: (await import('./catalog/catalog-page.tsx')).CatalogPage }))
const ModelPage = lazy(async () => ({ default: (await import('./models/model-page.tsx')).ModelPage }))
const QueryPage = lazy(async () => ({ default: (await import('../query/query-page.tsx')).QueryPage }))
const NewQueryPage = lazy(async () => ({ default: (await import('../query/query-page.tsx')).NewQueryPage }))

/** Pages of earlier versions, by the one that has taken their place. */
const movedPages: Record<string, string> = { connections: 'data', start: 'home', tour: 'home', playground: 'new-query' }

/** Entries of the rail by pages that belong to them under another name. */
const entries: Record<string, string> = { models: 'data', connections: 'data', 'new-query': 'queries' }

/** Everything under `/p/{project}/build`. */
export function BuildPages({ project, page }: { project: Project; page: string }) {
  const place = usePlace(project)
  const asked = new URLSearchParams(useSearch())
  const [section = '', name, view, ...beyond] = page.split('/')
  if (section === '') return <Redirect to={paths.buildHome(project.id)} replace />
  const moved = name === undefined ? movedPages[section] : undefined
  if (moved !== undefined) return <Redirect to={paths.build(project.id, moved)} replace />
  const shown = beyond.length > 0 ? null : pageOf(place, { section, name, view, table: asked.get('table') ?? '' })
  if (shown === null) return <NotFoundPage />
  const isQuery = section === 'queries' && name !== undefined
  return (
    <Shell project={project} wide {...(isQuery && { environment: <EnvironmentSwitch place={place} /> })}>
      <Rail
        label="Build"
        sections={buildSections}
        current={entries[section] ?? section}
        to={(entry) => paths.build(project.id, entry)}
        isPart={name === undefined}
      >
        <Suspense fallback={null}>{shown}</Suspense>
      </Rail>
    </Shell>
  )
}

type Asked = { section: string; name: string | undefined; view: string | undefined; table: string }

function pageOf(place: Place, { section, name, view, table }: Asked) {
  const { project, environment } = place
  if (section === 'queries' && name !== undefined) {
    return <QueryPage key={`${name} ${environment}`} place={place} tab="build" name={name} view={view} />
  }
  if (section === 'data' && name !== undefined) {
    return <TablePage key={name} project={project} table={name} view={view} />
  }
  if (section === 'connections' && name === 'catalog') return <CatalogPage key={view} project={project} chosen={view} />
  if (view !== undefined) return null
  if (section === 'connections' && name !== undefined) return <ConnectionPage project={project} id={name} />
  if (section === 'models') return <ModelPage key={name} project={project} name={name ?? null} />
  if (name !== undefined) return null
  if (section === 'home') return <HomePage project={project} />
  if (section === 'data') return <DataSection project={project} />
  if (section === 'queries') return <QueriesSection project={project} />
  if (section === 'new-query') return <NewQueryPage project={project} table={table} />
  return section === 'map' ? <MapPage project={project} /> : null
}
