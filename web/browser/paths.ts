export type SettingsSection =
  | 'project'
  | 'environments'
  | 'retention'
  | 'members'
  | 'tokens'
  | 'variables'
  | 'secrets'
  | 'audit'

export type TableView = 'columns' | 'rows' | 'contract' | 'versions'

export const paths = {
  home: '/',
  /** The list even when there is only one project, which `/` would open. */
  allProjects: '/?all',
  signIn: '/sign-in',
  account: '/account',
  docs: (page = '') => (page === '' ? '/docs' : `/docs/${page}`),
  /** The reference of a project, for anyone who has a key for it. */
  reference: (projectId: string, environment: string) =>
    `/reference/${projectId}${environment === usualEnvironment ? '' : `?environment=${environment}`}`,
  project: (projectId: string) => `/p/${projectId}`,
  settings: (projectId: string, section: SettingsSection = 'project') => `/p/${projectId}/settings/${section}`,
  /** Its figures and what needs somebody; in a new project the steps to a first answer. */
  buildHome: (projectId: string) => `/p/${projectId}/build/home`,
  build: (projectId: string, section: string) => `/p/${projectId}/build/${section}`,
  catalog: (projectId: string, entry = '') =>
    `/p/${projectId}/build/connections/catalog${entry === '' ? '' : `/${entry}`}`,
  newFileTable: (projectId: string) => `/p/${projectId}/build/connections/new?from=files`,
  connection: (projectId: string, datasourceId: string) => `/p/${projectId}/build/connections/${datasourceId}`,
  /** Connections, tables and models. */
  data: (projectId: string) => `/p/${projectId}/build/data`,
  table: (projectId: string, table: string, view: TableView = 'columns') =>
    `/p/${projectId}/build/data/${table}/${view}`,
  newModel: (projectId: string) => `/p/${projectId}/build/models`,
  model: (projectId: string, name: string) => `/p/${projectId}/build/models/${name}`,
  /** With something selected in it: `table orders`, `query top_products`. */
  map: (projectId: string, selected = '') =>
    `/p/${projectId}/build/map${selected === '' ? '' : `?${new URLSearchParams({ of: selected })}`}`,
  queries: (projectId: string) => `/p/${projectId}/build/queries`,
  /** A query with its endpoint, as it opens from Build: on its SQL. */
  query: (projectId: string, name: string, view = '') =>
    `/p/${projectId}/build/queries/${name}${view === '' ? '' : `/${view}`}`,
  /** A query that has no name yet, of everything in a table where one is named. */
  newQuery: (projectId: string, table = '') =>
    `/p/${projectId}/build/new-query${table === '' ? '' : `?${new URLSearchParams({ table })}`}`,
}

/** The sign-in page that leads back to where someone wanted to go. */
export function signInPath(next: string): string {
  return next === '/' ? paths.signIn : `${paths.signIn}?next=${encodeURIComponent(next)}`
}

/** Where to go after signing in. Only a path of our own: a link must not be able to lead anywhere else. */
export function nextPath(search: string): string {
  const next = new URLSearchParams(search).get('next') ?? '/'
  return /^\/(?![/\\])/.test(next) && !next.startsWith(paths.signIn) ? next : '/'
}

/** A page of the Deploy tab. The environment is in the address, so that a link shows what its sender saw. */
export function deployPath(projectId: string, page = 'endpoints', environment = usualEnvironment): string {
  return inEnvironment(`/p/${projectId}/deploy/${page}`, environment)
}

export function inEnvironment(path: string, environment: string): string {
  return `${path}${environment === usualEnvironment ? '' : `?environment=${environment}`}`
}

/** A call of an endpoint with these values filled in. */
export function tryPath(projectId: string, name: string, environment: string, values?: object): string {
  const asked = new URLSearchParams({
    ...(environment !== usualEnvironment && { environment }),
    ...(values !== undefined && { values: JSON.stringify(values) }),
  })
  return `/p/${projectId}/deploy/endpoints/${name}/try${asked.size === 0 ? '' : `?${asked}`}`
}

/** Where calls go that name no environment; every project has it. */
export const usualEnvironment = 'production'

/** Where questions are asked, with the question where it is known. */
export function askPath(projectId: string, environment = usualEnvironment, question = ''): string {
  const asked = new URLSearchParams({
    ...(environment !== usualEnvironment && { environment }),
    ...(question !== '' && { question }),
  })
  return `/p/${projectId}/ask${asked.size === 0 ? '' : `?${asked}`}`
}
