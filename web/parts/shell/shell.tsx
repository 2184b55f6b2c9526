import {
  ActionIcon,
  Button,
  Kbd,
  Text,
  UnstyledButton,
  useComputedColorScheme,
  useMantineColorScheme,
} from '@mantine/core'
import { useHotkeys } from '@mantine/hooks'
import { Search, SunMoon } from 'lucide-react'
import { useEffect, useRef, type ReactNode } from 'react'
import { Link, useLocation } from 'wouter'
import { paths, signInPath } from '../../browser/paths.ts'
import type { Project } from '../../client/wire.ts'
import { AccountMenu } from './account-menu.tsx'
import { AlertBell } from './alert-bell.tsx'
import { JobBar } from './job-bar.tsx'
import jumpClasses from './jump.module.css'
import { Logo } from './logo.tsx'
import { PasswordPrompt } from './password-prompt.tsx'
import { ProjectSwitch } from './project-switch.tsx'
import { useShellDialogs } from './shell-dialogs.tsx'
import classes from './shell.module.css'
import { SignOutDialog } from './sign-out-dialog.tsx'

/** A project's tabs, in their fixed order. */
const tabs = [
  { label: 'Ask', segment: 'ask' },
  { label: 'Build', segment: 'build' },
  { label: 'Deploy', segment: 'deploy' },
  { label: 'Settings', segment: 'settings' },
] as const

/** The frame of every page inside: where one is, where one can go, and the page. */
export function Shell({
  project,
  environment,
  wide = false,
  children,
}: {
  project?: Project
  /** For pages with a rail. */
  wide?: boolean
  /** The switch between environments, on pages that show one of them. */
  environment?: ReactNode
  children: ReactNode
}) {
  const main = useMainFocus()
  const { newProject } = useShellDialogs()
  return (
    <>
      <a className={classes.skip} href="#content">
        Skip to the content
      </a>
      <header className={classes.header}>
        <div className={classes.place}>
          <Link href={paths.home} className={classes.home} aria-label="Sluice: your projects">
            <Logo size={26} />
          </Link>
          <ProjectSwitch project={project} onCreate={newProject} />
        </div>
        {project !== undefined && <Tabs projectId={project.id} />}
        <div className={classes.end}>
          <JumpButton />
          {project !== undefined && <AlertBell project={project} />}
          {environment !== undefined && <div className={classes.environment}>{environment}</div>}
          <AccountMenu />
        </div>
      </header>
      {project !== undefined && <JobBar project={project} />}
      <main id="content" ref={main} tabIndex={-1} className={classes.main} data-wide={wide || undefined}>
        <PasswordPrompt />
        {children}
      </main>
      <SignOutDialog />
    </>
  )
}

/** The frame of pages that anybody may read, for those who are not signed in. */
export function PublicShell({ wide = false, children }: { wide?: boolean; children: ReactNode }) {
  const main = useMainFocus()
  const { setColorScheme } = useMantineColorScheme()
  const isDark = useComputedColorScheme() === 'dark'
  const [path] = useLocation()
  return (
    <>
      <a className={classes.skip} href="#content">
        Skip to the content
      </a>
      <header className={classes.header}>
        <div className={classes.place}>
          <Link href={paths.docs()} className={classes.home} aria-label="Sluice: the guides">
            <Logo size={26} />
          </Link>
        </div>
        <div className={classes.end}>
          <ActionIcon
            variant="subtle"
            color="gray"
            size={34}
            aria-label={isDark ? 'Light colours' : 'Dark colours'}
            onClick={() => setColorScheme(isDark ? 'light' : 'dark')}
          >
            <SunMoon size={18} aria-hidden />
          </ActionIcon>
          <Button component={Link} href={signInPath(path)} variant="default">
            Sign in
          </Button>
        </div>
      </header>
      <main id="content" ref={main} tabIndex={-1} className={classes.main} data-wide={wide || undefined}>
        {children}
      </main>
    </>
  )
}

const isApple = /Mac|iPhone|iPad/.test(navigator.userAgent)

/** The way to anywhere. */
function JumpButton() {
  const { jump } = useShellDialogs()
  useHotkeys([['mod+K', jump]], [])
  return (
    <UnstyledButton className={jumpClasses.button ?? ''} onClick={jump}>
      <Search size={15} aria-hidden />
      <Text component="span" c="dimmed" className={jumpClasses.words ?? ''}>
        Jump to…
      </Text>
      <Kbd size="xs" className={jumpClasses.key ?? ''} aria-hidden>
        {isApple ? '⌘ K' : 'Ctrl K'}
      </Kbd>
    </UnstyledButton>
  )
}

function Tabs({ projectId }: { projectId: string }) {
  const [path] = useLocation()
  return (
    <nav className={classes.tabs} aria-label="Project">
      {tabs.map(({ label, segment }) => {
        const to = `${paths.project(projectId)}/${segment}`
        return (
          <Link
            key={segment}
            href={to}
            className={classes.tab}
            aria-current={path === to || path.startsWith(`${to}/`) ? 'page' : undefined}
          >
            {label}
          </Link>
        )
      })}
    </nav>
  )
}

/** The path that was shown last, by whichever frame: pages have frames of their own. */
let shownPath: string | null = null

/** A new page begins at its top, for the eye and for the keyboard, unless the focus is in it already. */
function useMainFocus(): React.RefObject<HTMLElement | null> {
  const main = useRef<HTMLElement>(null)
  const [path] = useLocation()
  useEffect(() => {
    const moved = shownPath !== null && shownPath !== path
    shownPath = path
    if (!moved) return
    scrollTo(0, 0)
    if (main.current !== null && !main.current.contains(document.activeElement)) {
      main.current.focus({ preventScroll: true })
    }
  }, [path])
  return main
}
