import { useComputedColorScheme, useMantineColorScheme } from '@mantine/core'
import { Spotlight, spotlight, type SpotlightActionData, type SpotlightActionGroupData } from '@mantine/spotlight'
import {
  BookOpen,
  FolderOpen,
  LogOut,
  MessageCircleQuestion,
  Plus,
  Search,
  SunMoon,
  UserRound,
  Zap,
} from 'lucide-react'
import { useEffect, useState } from 'react'
import { useLocation } from 'wouter'
import { contents } from '../../text/contents.ts'
import { askPath, deployPath, paths } from '../../browser/paths.ts'
import { useProjects } from '../../client/queries.ts'
import { buildSections, deploySections, settingsSections, type Section } from '../../client/sections.ts'
import { useLeave } from '../../client/sign-out.ts'
import { servedRows, useApiKeys, useDatasources, useObjects, useQueriesOf } from '../../client/things.ts'
import type { Project } from '../../client/wire.ts'
import '@mantine/spotlight/styles.layer.css'

type Props = {
  project: Project | undefined
  /** Counts how often it was asked for. */
  asked: number
  onCreate: () => void
}

/** Anywhere in a few letters, and things to begin. */
export function Jump({ project, asked, onCreate }: Props) {
  const [typed, setTyped] = useState('')
  useEffect(() => {
    if (asked > 0) spotlight.toggle()
  }, [asked])
  const things = useThings(project)
  const call = useCallById(project?.id, typed.trim())
  const guides = useGuides()
  return (
    <Spotlight
      query={typed}
      onQueryChange={setTyped}
      actions={[...useJumps({ project, onCreate }), ...things, ...call, ...guides].filter(
        ({ actions }) => actions.length > 0,
      )}
      // The button in the header has the key: it is there before these lines are loaded.
      shortcut={null}
      nothingFound="Nothing is called like that."
      highlightQuery
      scrollable
      maxHeight={420}
      limit={30}
      overlayProps={{ blur: 0 }}
      attributes={{ content: { 'aria-label': 'Jump' } }}
      searchProps={{
        leftSection: <Search size={18} aria-hidden />,
        placeholder: 'Jump to a page, a query, a table, an act or a guide',
        'aria-label': 'Jump to',
      }}
    />
  )
}

type Jumps = SpotlightActionGroupData[]

function useJumps({ project, onCreate }: Omit<Props, 'asked'>): Jumps {
  const [, navigate] = useLocation()
  const projects = useProjects()
  const leave = useLeave()
  const { setColorScheme } = useMantineColorScheme()
  const isDark = useComputedColorScheme() === 'dark'
  const others = (projects.data ?? []).map(({ id, name }): SpotlightActionData => ({
    id,
    label: name,
    description: 'Project',
    leftSection: <FolderOpen size={18} aria-hidden />,
    onClick: () => navigate(paths.project(id)),
  }))
  const acts: SpotlightActionData[] = [
    { id: 'new', label: 'New project', leftSection: <Plus size={18} aria-hidden />, onClick: onCreate },
    {
      id: 'docs',
      label: 'Guides and API reference',
      leftSection: <BookOpen size={18} aria-hidden />,
      onClick: () => navigate(paths.docs()),
    },
    {
      id: 'account',
      label: 'Account',
      leftSection: <UserRound size={18} aria-hidden />,
      onClick: () => navigate(paths.account),
    },
    {
      id: 'scheme',
      label: isDark ? 'Light colours' : 'Dark colours',
      leftSection: <SunMoon size={18} aria-hidden />,
      onClick: () => setColorScheme(isDark ? 'light' : 'dark'),
    },
    {
      id: 'sign-out',
      label: 'Sign out',
      leftSection: <LogOut size={18} aria-hidden />,
      onClick: leave,
    },
  ]
  return [
    {
      group: 'Actions',
      actions: project === undefined || project.role === 'viewer' ? [] : actionsOf(project, navigate),
    },
    { group: 'This project', actions: project === undefined ? [] : pagesOf(project, navigate) },
    { group: 'Projects', actions: others },
    { group: 'Everywhere', actions: acts },
  ]
}

function ofTab<Name extends string>(tab: string, sections: Array<Section<Name>>, to: (section: Name) => string) {
  return sections.flatMap(({ section, label, icon, parts = [{ section, label }] }) =>
    // The first of several pages goes by the name of their entry.
    parts.map((part) => ({ label: part.section === section ? label : part.label, icon, tab, to: to(part.section) })),
  )
}

/** Acts that begin on a page of their own. */
function actionsOf({ id }: Project, navigate: (to: string) => void): SpotlightActionData[] {
  const acts = [
    { label: 'New connection', to: paths.catalog(id) },
    { label: 'New query', to: paths.newQuery(id) },
    { label: 'New model', to: paths.newModel(id) },
    { label: 'Upload a file', to: paths.newFileTable(id) },
    { label: 'Release changes…', to: `${deployPath(id, 'releases')}?release` },
    { label: 'New API key', to: `${deployPath(id, 'keys')}?new` },
  ]
  return acts.map(({ label, to }) => ({
    id: `act ${label}`,
    label,
    leftSection: <Zap size={18} aria-hidden />,
    onClick: () => navigate(to),
  }))
}

function pagesOf(project: Project, navigate: (to: string) => void): SpotlightActionData[] {
  const pages = [
    { label: 'Ask', icon: MessageCircleQuestion, tab: 'Questions', to: askPath(project.id) },
    ...ofTab('Build', buildSections, (section) => paths.build(project.id, section)),
    ...ofTab('Deploy', deploySections, (section) => deployPath(project.id, section)),
    ...ofTab('Settings', settingsSections(project.role), (section) => paths.settings(project.id, section)),
  ]
  return pages.map(({ label, icon: Icon, tab, to }) => ({
    id: to,
    label,
    description: `${tab} of ${project.name}`,
    leftSection: <Icon size={18} aria-hidden />,
    onClick: () => navigate(to),
  }))
}

/** The things of the project, by name. */
function useThings(project: Project | undefined): Jumps {
  const [, navigate] = useLocation()
  const enabled = project !== undefined
  const id = project?.id ?? ''
  const objects = useObjects(id, enabled).data ?? []
  const keys = useApiKeys(enabled && project.role === 'owner').data ?? []
  const queries = useQueriesOf(id, enabled).data ?? []
  const sources = useDatasources(id, enabled).data ?? []
  const jump = (what: string, label: string, to: string): SpotlightActionData => ({
    id: `${what} ${to}`,
    label,
    description: what,
    onClick: () => navigate(to),
  })
  return [
    {
      group: 'Endpoints',
      actions: queries.flatMap(({ name, deployments }) =>
        deployments.map(({ environment }) =>
          jump(`Endpoint in ${environment}`, name, deployPath(id, `endpoints/${name}`, environment)),
        ),
      ),
    },
    { group: 'Queries', actions: queries.map(({ name }) => jump('Query', name, paths.query(id, name))) },
    {
      group: 'Deploy',
      actions: queries
        .filter(({ changed, deployments }) => project?.role !== 'viewer' && (changed || deployments.length === 0))
        .map(({ name }) => jump('Draft with changes', `Deploy ${name}…`, `${paths.query(id, name)}?deploy`)),
    },
    {
      group: 'Tables',
      actions: sources
        .filter(({ status }) => status !== 'new')
        .map(({ table_name: table }) => jump('Table', table, paths.table(id, table))),
    },
    {
      group: 'Connections',
      actions: sources.map((source) => jump('Connection', source.name, paths.connection(id, source.id))),
    },
    {
      group: 'Tags',
      actions: [
        ...tagged(queries).map((tag) => jump(`Queries tagged ${tag}`, tag, taggedWith(paths.queries(id), tag))),
        ...tagged(sources).map((tag) => jump(`Tables tagged ${tag}`, tag, taggedWith(paths.data(id), tag))),
      ],
    },
    {
      group: 'Columns',
      actions: [...servedRows(objects).values()].flatMap(({ table_name: table, columns }) =>
        (columns ?? []).map(({ name }) => jump(`Column of ${table}`, name, paths.table(id, table))),
      ),
    },
    {
      group: 'API keys',
      actions: keys.map((key) => jump('API key', key.name, deployPath(id, `keys/${key.id}`))),
    },
  ]
}

function tagged(items: Array<{ tags: string[] }>): string[] {
  return [...new Set(items.flatMap(({ tags }) => tags))].toSorted()
}

function taggedWith(path: string, tag: string): string {
  return `${path}?tag=${encodeURIComponent(tag)}`
}

/** A call by the id that its answer carried, as an error message shows it. */
function useCallById(projectId: string | undefined, typed: string): Jumps {
  const [, navigate] = useLocation()
  if (projectId === undefined || !/^req_\w{26}$/.test(typed)) return []
  const to = `${deployPath(projectId, 'requests')}?request=${typed}`
  return [
    {
      group: 'Calls',
      actions: [{ id: `call ${typed}`, label: typed, description: 'Call', onClick: () => navigate(to) }],
    },
  ]
}

function useGuides(): Jumps {
  const [, navigate] = useLocation()
  const actions = contents.flatMap(({ entries }) =>
    entries.map(({ page, title, about }): SpotlightActionData => ({
      id: `guide ${page}`,
      label: title,
      description: `Guide: ${about}`,
      leftSection: <BookOpen size={18} aria-hidden />,
      onClick: () => navigate(paths.docs(page)),
    })),
  )
  return [{ group: 'Guides', actions }]
}
