import { Button } from '@mantine/core'
import { lazy, Suspense } from 'react'
import { Link, Redirect, Route, Switch } from 'wouter'
import { isRefusal } from '../client/api.ts'
import { Heading } from '../parts/text/heading.tsx'
import { Loaded } from '../parts/text/loaded.tsx'
import { Shell } from '../parts/shell/shell.tsx'
import { askPath, paths } from '../browser/paths.ts'
import { useProject } from '../client/queries.ts'
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
        <Suspense fallback={<Shell project={project}>{null}</Shell>}>
          <AskPage project={project} />
        </Suspense>
      </Route>
      <Route path="/p/:projectId/build/*?">
        {({ '*': page }) => (
          <Suspense
            fallback={
              <Shell project={project} wide>
                {null}
              </Shell>
            }
          >
            <BuildPages project={project} page={page ?? ''} />
          </Suspense>
        )}
      </Route>
      <Route path="/p/:projectId/settings/:section?">
        {({ section }) => (
          <Suspense
            fallback={
              <Shell project={project} wide>
                {null}
              </Shell>
            }
          >
            <SettingsPages project={project} section={section} />
          </Suspense>
        )}
      </Route>
      <Route path="/p/:projectId/deploy/*?">
        {({ '*': page }) => (
          <Suspense fallback={<Shell project={project}>{null}</Shell>}>
            <DeployPages project={project} page={page ?? ''} />
          </Suspense>
        )}
      </Route>
      <Route component={NotFoundPage} />
    </Switch>
  )
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
