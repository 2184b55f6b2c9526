import { Cable, Database, FileCode2, type LucideIcon } from 'lucide-react'
import { lazy, Suspense } from 'react'
import { Link, Redirect, Route, Switch, useLocation } from 'wouter'
import { Shell } from '../../parts/shell.tsx'
import { paths } from '../../paths.ts'
import type { Project } from '../../wire.ts'
import { NotFoundPage } from '../not-found.tsx'
import classes from './build.module.css'
import { ConnectionPage } from './connections/connection-page.tsx'
import { ConnectionsSection } from './connections/connections.tsx'
import { QueriesSection } from './queries/queries.tsx'
import { TablePage } from './data/table-page.tsx'
import { TablesSection } from './data/tables.tsx'

const QueryPage = lazy(async () => ({ default: (await import('./queries/query-page.tsx')).QueryPage }))

const sections: Array<{ label: string; icon: LucideIcon; to: (projectId: string) => string }> = [
  { label: 'Connections', icon: Cable, to: paths.connections },
  { label: 'Data', icon: Database, to: paths.tables },
  { label: 'Queries', icon: FileCode2, to: paths.queries },
]

/** Connections bring data in, data is what queries read, queries are what is deployed. */
export function BuildPages({ project }: { project: Project }) {
  return (
    <Switch>
      <Route path="/p/:projectId/build">
        <Redirect to={paths.connections(project.id)} replace />
      </Route>
      <Route path="/p/:projectId/build/connections">
        <Frame project={project}>
          <ConnectionsSection project={project} />
        </Frame>
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
          <TablesSection project={project} />
        </Frame>
      </Route>
      <Route path="/p/:projectId/build/data/:table/:view?">
        {({ table, view }) => (
          <Frame project={project}>
            <TablePage key={table} project={project} table={table} view={view} />
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
      <Route component={NotFoundPage} />
    </Switch>
  )
}

function Frame({ project, children }: { project: Project; children: React.ReactNode }) {
  const [path] = useLocation()
  return (
    <Shell project={project}>
      <div className={classes.page}>
        <nav className={classes.rail} aria-label="Build">
          {sections.map(({ label, icon: Icon, to }) => (
            <Link
              key={label}
              href={to(project.id)}
              className={classes.entry}
              aria-current={path.startsWith(to(project.id)) ? 'page' : undefined}
            >
              <Icon size={16} aria-hidden />
              {label}
            </Link>
          ))}
        </nav>
        <div className={classes.content}>{children}</div>
      </div>
    </Shell>
  )
}
