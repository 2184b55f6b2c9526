import { inEnvironment, paths } from '../../../browser/paths.ts'
import type { Place } from '../../deploy/shared/place.ts'

/** The tab from which the page was opened, which it stays in. */
export type Tab = 'build' | 'deploy'

export const views = [
  { view: 'edit', label: 'Edit' },
  { view: 'try', label: 'Try' },
  { view: 'versions', label: 'Versions' },
  { view: 'usage', label: 'Usage' },
  { view: 'questions', label: 'Questions' },
] as const

export type View = (typeof views)[number]['view']

/** Views of earlier versions, by the one that has taken their place. */
const moved: Record<string, View> = { metrics: 'usage', history: 'versions' }

/** The view of an address; one that names none begins with what the tab is about. Null where there is no such view. */
export function viewOf(tab: Tab, asked: string | undefined): View | null {
  if (asked === undefined) return tab === 'build' ? 'edit' : 'try'
  return views.find(({ view }) => view === (moved[asked] ?? asked))?.view ?? null
}

export function viewPath({ project, environment, to }: Place, tab: Tab, name: string, view: View): string {
  return tab === 'build'
    ? inEnvironment(paths.query(project.id, name, view === 'edit' ? '' : view), environment)
    : to(`endpoints/${name}${view === 'try' ? '' : `/${view}`}`)
}
