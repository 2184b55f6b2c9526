import { lazy, Suspense } from 'react'
import { Redirect, Route, Switch, useLocation, useSearch } from 'wouter'
import { Loaded } from './parts/text/loaded.tsx'
import { RenewalDialog } from './parts/shell/renewal-dialog.tsx'
import { WithShellDialogs } from './parts/shell/shell-dialogs.tsx'
import { NotFoundPage } from './parts/shell/not-found.tsx'
import { ProjectPages } from './pages/project.tsx'
import { ProjectsPage } from './pages/projects.tsx'
import { SignInPage } from './pages/sign-in.tsx'
import { signInPath } from './browser/paths.ts'
import { useSession } from './client/queries.ts'

const AccountPage = lazy(async () => ({ default: (await import('./pages/account.tsx')).AccountPage }))
const JoinPage = lazy(async () => ({ default: (await import('./pages/join.tsx')).JoinPage }))
const ConnectPage = lazy(async () => ({ default: (await import('./pages/connect.tsx')).ConnectPage }))
const AuthorizePage = lazy(async () => ({ default: (await import('./pages/authorize.tsx')).AuthorizePage }))
const DevicePage = lazy(async () => ({ default: (await import('./pages/device.tsx')).DevicePage }))
const SharedReferencePage = lazy(async () => ({
  default: (await import('./pages/deploy/reference/shared-reference.tsx')).SharedReferencePage,
}))
const DocsPages = lazy(async () => ({ default: (await import('./pages/docs/docs.tsx')).DocsPages }))

export function App() {
  return (
    <WithShellDialogs>
      {/* Pages that are not loaded yet. */}
      <Suspense fallback={null}>
        <Switch>
          <Route path="/sign-in" component={SignInPage} />
          <Route path="/join">
            <JoinPage />
          </Route>
          <Route path="/connect/:server">{({ server }) => <ConnectPage server={server} />}</Route>
          <Route path="/docs/:page?">{({ page }) => <DocsPages page={page ?? ''} />}</Route>
          <Route path="/reference/:projectId">
            {({ projectId }) => <SharedReferencePage projectId={projectId} key={projectId} />}
          </Route>
          <Route>
            <SignedInPages />
          </Route>
        </Switch>
      </Suspense>
      <RenewalDialog />
    </WithShellDialogs>
  )
}

function SignedInPages() {
  const session = useSession()
  const [path] = useLocation()
  const search = useSearch()
  return (
    <Loaded query={session} waiting={null}>
      {(user) =>
        user === null ? (
          <Redirect to={signInPath(search === '' ? path : `${path}?${search}`)} replace />
        ) : (
          <Switch>
            <Route path="/" component={ProjectsPage} />
            <Route path="/account">
              <AccountPage />
            </Route>
            <Route path="/oauth/authorize">
              <AuthorizePage />
            </Route>
            <Route path="/device">
              <DevicePage />
            </Route>
            <Route path="/p/:projectId/*?">
              {({ projectId }) => <ProjectPages projectId={projectId} key={projectId} />}
            </Route>
            <Route component={NotFoundPage} />
          </Switch>
        )
      }
    </Loaded>
  )
}
