import { Button } from '@mantine/core'
import { lazy, Suspense, type ReactNode } from 'react'
import { Link, Redirect, Route, Switch } from 'wouter'
import { isRefusal } from '../client/api.ts'
import { Heading } from '../parts/text/heading.tsx'
import { Loaded } from '../parts/text/loaded.tsx'
import { Shell } from '../parts/shell/shell.tsx'
import { askPath, paths } from '../browser/paths.ts'
import { useProject } from '../client/queries.ts'
import type { Project } from '../client/wire.ts'
import { NotFoundPage } from '../parts/shell/not-found.tsx'

const AskPage = lazy(async () => ({ default: (await import('./ask/ask.tsx')).AskPage }))
const BuildPages = lazy(async () => ({ default: (await import('./build/build.tsx')).BuildPages }))
const SettingsPages = lazy(async () => ({ default: (await import('./settings/settings.tsx')).SettingsPages }))
const DeployPages = lazy(async () => ({ default: (await import('./deploy/deploy.tsx')).DeployPages }))

/** Everything under `/p/{project}`. */
export function ProjectPages({ projectId }: { projectId: string }) {
  const query = useProject(projectId)
  if (query.data === undefined) {
    const gone = isRefusal(query.error) && query.error.status === 404
    return <Shell>{gone ? <NoProject /> : <Loaded query={query}>{() => null}</Loaded>}</Shell>
  }
  const project = query.data
  return (
    <Switch>
      <Route path="/p/:projectId">
        {/* A viewer comes for answers. */}
        <Redirect to={project.role === 'viewer' ? askPath(project.id) : paths.buildHome(project.id)} replace />
      </Route>
      <Route path="/p/:projectId/ask">
        <Waiting project={project}>
          <AskPage project={project} />
        </Waiting>
      </Route>
      <Route path="/p/:projectId/build/*?">
        {({ '*': page }) => (
          <Waiting project={project} wide>
            <BuildPages project={project} page={page ?? ''} />
          </Waiting>
        )}
      </Route>
      <Route path="/p/:projectId/settings/:section?">
        {({ section }) => (
          <Waiting project={project} wide>
            <SettingsPages project={project} section={section} />
          </Waiting>
        )}
      </Route>
      <Route path="/p/:projectId/deploy/*?">
        {({ '*': page }) => (
          <Waiting project={project}>
            <DeployPages project={project} page={page ?? ''} />
          </Waiting>
        )}
      </Route>
      <Route component={NotFoundPage} />
    </Switch>
  )
}

/** The header stands while the page is loaded. */
function Waiting({ children, ...shell }: { project: Project; wide?: boolean; children: ReactNode }) {
  return <Suspense fallback={<Shell {...shell}>{null}</Shell>}>{children}</Suspense>
}

function NoProject() {
  return (
    <>
      <Heading title="There is no such project">
        It may have been deleted, or you are not a member of it. Its owner can invite you.
      </Heading>
      <Button component={Link} href={paths.allProjects}>
        Go to your projects
      </Button>
    </>
  )
}
