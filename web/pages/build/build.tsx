import { lazy, Suspense, type ReactNode } from 'react'
import { Redirect, Route, Switch, useLocation, useSearch } from 'wouter'
import { Rail } from '../../parts/shell/rail.tsx'
import { Shell } from '../../parts/shell/shell.tsx'
import { paths } from '../../browser/paths.ts'
import { buildSections } from '../../client/sections.ts'
import type { Project } from '../../client/wire.ts'
import { NotFoundPage } from '../../parts/shell/not-found.tsx'
import { ConnectionPage } from './connections/connection-page.tsx'
import { DataSection } from './data/data-list.tsx'
import { QueriesSection } from './queries/queries.tsx'
import { TablePage } from './data/table-page.tsx'
import { EnvironmentSwitch } from '../deploy/shared/environment-switch.tsx'
import { usePlace } from '../deploy/shared/place.ts'

const HomePage = lazy(async () => ({ default: (await import('./home/home.tsx')).HomePage }))
const MapPage = lazy(async () => ({ default: (await import('./map/map-page.tsx')).MapPage }))
const CatalogPage = lazy(async () => ({ default: (await import('./catalog/catalog-page.tsx')).CatalogPage }))
const ModelPage = lazy(async () => ({ default: (await import('./models/model-page.tsx')).ModelPage }))
const QueryPage = lazy(async () => ({ default: (await import('../query/query-page.tsx')).QueryPage }))
const NewQueryPage = lazy(async () => ({ default: (await import('../query/query-page.tsx')).NewQueryPage }))

/** Pages that have no pages of their own under them. */
const lonePages: Record<string, typeof MapPage> = { home: HomePage, map: MapPage }

/** Pages of earlier versions, by the one that has taken their place. */
const movedPages: Record<string, string> = { connections: 'data', start: 'home', tour: 'home', playground: 'new-query' }

/** Everything under `/p/{project}/build`. */
export function BuildPages({ project }: { project: Project }) {
  const place = usePlace(project)
  const asked = new URLSearchParams(useSearch())
  return (
    <Switch>
      <Route path="/p/:projectId/build">
        <Redirect to={paths.buildHome(project.id)} replace />
      </Route>
      <Route path="/p/:projectId/build/connections/catalog/:entry?">
        {({ entry }) => (
          <Frame project={project}>
            <CatalogPage key={entry} project={project} chosen={entry} />
          </Frame>
        )}
      </Route>
      <Route path="/p/:projectId/build/connections/:id">
        {({ id }) => (
          <Frame project={project}>
            <ConnectionPage project={project} id={id} />
          </Frame>
        )}
      </Route>
      <Route path="/p/:projectId/build/data">
        <Frame project={project}>
          <DataSection project={project} />
        </Frame>
      </Route>
      <Route path="/p/:projectId/build/data/:table/:view?">
        {({ table, view }) => (
          <Frame project={project}>
            <TablePage key={table} project={project} table={table} view={view} />
          </Frame>
        )}
      </Route>
      <Route path="/p/:projectId/build/models/:name?">
        {({ name }) => (
          <Frame project={project}>
            <Suspense fallback={null}>
              <ModelPage key={name} project={project} name={name ?? null} />
            </Suspense>
          </Frame>
        )}
      </Route>
      <Route path="/p/:projectId/build/queries">
        <Frame project={project}>
          <QueriesSection project={project} />
        </Frame>
      </Route>
      <Route path="/p/:projectId/build/queries/:name/:view?">
        {({ name, view }) => (
          <Frame project={project} environment={<EnvironmentSwitch place={place} />}>
            <Suspense fallback={null}>
              <QueryPage key={`${name} ${place.environment}`} place={place} tab="build" name={name} view={view} />
            </Suspense>
          </Frame>
        )}
      </Route>
      <Route path="/p/:projectId/build/new-query">
        <Frame project={project}>
          <Suspense fallback={null}>
            <NewQueryPage project={project} table={asked.get('table') ?? ''} />
          </Suspense>
        </Frame>
      </Route>
      <Route path="/p/:projectId/build/:section">
        {({ section }) => {
          const moved = movedPages[section]
          if (moved !== undefined) return <Redirect to={paths.build(project.id, moved)} replace />
          const Page = lonePages[section]
          if (Page === undefined) return <NotFoundPage />
          return (
            <Frame project={project}>
              <Suspense fallback={null}>
                <Page project={project} />
              </Suspense>
            </Frame>
          )
        }}
      </Route>
      <Route component={NotFoundPage} />
    </Switch>
  )
}

type FrameProps = { project: Project; environment?: ReactNode; children: ReactNode }

/** Entries of the rail by pages that belong to them under another name. */
const entries: Record<string, string> = { models: 'data', connections: 'data', 'new-query': 'queries' }

function Frame({ project, environment, children }: FrameProps) {
  const [path] = useLocation()
  const [, , , , current = '', inside] = path.split('/')
  return (
    <Shell project={project} wide {...(environment !== undefined && { environment })}>
      <Rail
        label="Build"
        sections={buildSections}
        current={entries[current] ?? current}
        to={(section) => paths.build(project.id, section)}
        isPart={inside === undefined}
      >
        {children}
      </Rail>
    </Shell>
  )
}
