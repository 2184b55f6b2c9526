import { lazy, Suspense } from 'react'
import { Redirect, Route, Switch, useLocation } from 'wouter'
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

const HomePage = lazy(async () => ({ default: (await import('./home/home.tsx')).HomePage }))
const MapPage = lazy(async () => ({ default: (await import('./map/map-page.tsx')).MapPage }))
const PlaygroundPage = lazy(async () => ({
  default: (await import('./playground/playground-page.tsx')).PlaygroundPage,
}))
const CatalogPage = lazy(async () => ({ default: (await import('./catalog/catalog-page.tsx')).CatalogPage }))
const ModelPage = lazy(async () => ({ default: (await import('./models/model-page.tsx')).ModelPage }))
const QueryPage = lazy(async () => ({ default: (await import('./queries/query-page.tsx')).QueryPage }))

/** Pages that have no pages of their own under them. */
const lonePages: Record<string, typeof MapPage> = { home: HomePage, map: MapPage, playground: PlaygroundPage }

/** Pages of earlier versions, by the one that has taken their place. */
const movedPages: Record<string, string> = { connections: 'data', start: 'home', tour: 'home' }

/** Everything under `/p/{project}/build`. */
export function BuildPages({ project }: { project: Project }) {
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
      <Route path="/p/:projectId/build/queries/:name">
        {({ name }) => (
          <Frame project={project}>
            <Suspense fallback={null}>
              <QueryPage key={name} project={project} name={name} />
            </Suspense>
          </Frame>
        )}
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

function Frame({ project, children }: { project: Project; children: React.ReactNode }) {
  const [path] = useLocation()
  const [, , , , current = '', inside] = path.split('/')
  return (
    <Shell project={project} wide>
      <Rail
        label="Build"
        sections={buildSections}
        // Connections and models are data as tables are.
        current={current === 'models' || current === 'connections' ? 'data' : current}
        to={(section) => paths.build(project.id, section)}
        isPart={inside === undefined}
      >
        {children}
      </Rail>
    </Shell>
  )
}
