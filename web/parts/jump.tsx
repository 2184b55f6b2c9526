import { Kbd, Text, UnstyledButton, useMantineColorScheme } from '@mantine/core'
import { Spotlight, spotlight, type SpotlightActionData, type SpotlightActionGroupData } from '@mantine/spotlight'
import { FolderOpen, LogOut, Plus, Search, SunMoon, UserRound } from 'lucide-react'
import { useLocation } from 'wouter'
import { settingsSections } from '../pages/settings/sections.ts'
import { paths } from '../paths.ts'
import { useProjects } from '../queries.ts'
import { useSignOut } from '../sign-out.ts'
import type { Project } from '../wire.ts'
import classes from './jump.module.css'

const isApple = /Mac|iPhone|iPad/.test(navigator.userAgent)

/** Anywhere in a few letters. */
export function Jump({ project, onCreate }: { project: Project | undefined; onCreate: () => void }) {
  return (
    <Spotlight
      actions={useJumps(project, onCreate)}
      shortcut={['mod + K']}
      nothingFound="Nothing is called like that."
      highlightQuery
      scrollable
      maxHeight={420}
      overlayProps={{ blur: 0 }}
      attributes={{ content: { 'aria-label': 'Jump' } }}
      searchProps={{
        leftSection: <Search size={18} aria-hidden />,
        placeholder: 'Jump to a page, a project or an action',
        'aria-label': 'Jump to',
      }}
    />
  )
}

export function JumpButton() {
  return (
    <UnstyledButton className={classes.button ?? ''} onClick={spotlight.open}>
      <Search size={15} aria-hidden />
      <Text component="span" c="dimmed" className={classes.words ?? ''}>
        Jump to…
      </Text>
      <Kbd size="xs" className={classes.key ?? ''} aria-hidden>
        {isApple ? '⌘ K' : 'Ctrl K'}
      </Kbd>
    </UnstyledButton>
  )
}

function useJumps(project: Project | undefined, onCreate: () => void): SpotlightActionGroupData[] {
  const [, navigate] = useLocation()
  const projects = useProjects()
  const signOut = useSignOut()
  const { toggleColorScheme } = useMantineColorScheme()
  const pages: SpotlightActionData[] =
    project === undefined
      ? []
      : settingsSections(project.role).map(({ section, label, icon: Icon }) => ({
          id: section,
          label,
          description: `Settings of ${project.name}`,
          leftSection: <Icon size={18} aria-hidden />,
          onClick: () => navigate(paths.settings(project.id, section)),
        }))
  const others = (projects.data ?? []).map(({ id, name }): SpotlightActionData => ({
    id,
    label: name,
    leftSection: <FolderOpen size={18} aria-hidden />,
    onClick: () => navigate(paths.project(id)),
  }))
  const acts: SpotlightActionData[] = [
    { id: 'new', label: 'New project', leftSection: <Plus size={18} aria-hidden />, onClick: onCreate },
    {
      id: 'account',
      label: 'Account',
      leftSection: <UserRound size={18} aria-hidden />,
      onClick: () => navigate(paths.account),
    },
    {
      id: 'scheme',
      label: 'Switch between light and dark',
      leftSection: <SunMoon size={18} aria-hidden />,
      onClick: toggleColorScheme,
    },
    {
      id: 'sign-out',
      label: 'Sign out',
      leftSection: <LogOut size={18} aria-hidden />,
      onClick: () => signOut.mutate(),
    },
  ]
  return [
    { group: 'This project', actions: pages },
    { group: 'Projects', actions: others },
    { group: 'Everywhere', actions: acts },
  ].filter(({ actions }) => actions.length > 0)
}
