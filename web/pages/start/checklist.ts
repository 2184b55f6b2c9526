import { useSyncExternalStore } from 'react'
import { askPath, deployPath, paths } from '../../browser/paths.ts'
import { useUser } from '../../client/queries.ts'
import { useApiKeys, useDatasources, useQueriesOf } from '../../client/things.ts'
import type { Project } from '../../client/wire.ts'
import { useMetrics } from '../deploy/shared/usage-queries.ts'

export type Step = { label: string; about: string; to: string; isDone: boolean }

const monthHours = 30 * 24

/** The way from nothing to an API that answers, and how far the project is: told by what it holds, not by clicks. */
export function useChecklist(project: Project, enabled: boolean): { steps: Step[]; isKnown: boolean; isDone: boolean } {
  const { id, role } = project
  const isOwner = role === 'owner'
  const sources = useDatasources(id, enabled)
  const queries = useQueriesOf(id, enabled)
  const keys = useApiKeys(enabled && isOwner)
  const usage = useMetrics(id, { environment: null }, monthHours, enabled)
  const live = (queries.data ?? []).find(({ deployments }) => deployments.length > 0)
  const reaches = (keys.data ?? []).some(
    ({ status, permissions }) =>
      status === 'active' && permissions.some(({ project_id: reached }) => reached === id || reached === '*'),
  )
  const asked = live?.examples[0]?.question
  const steps: Step[] = [
    {
      label: 'Bring data in',
      about: 'Say where an API is, or upload files.',
      to: paths.connections(id),
      isDone: (sources.data ?? []).length > 0,
    },
    {
      label: 'Fetch it once',
      about: 'What comes back becomes a table.',
      to: paths.connections(id),
      isDone: (sources.data ?? []).some(({ refreshed_at: at }) => at !== null),
    },
    {
      label: 'Write SQL over it',
      about: 'One SELECT, with $names for what callers choose.',
      to: paths.queries(id),
      isDone: (queries.data ?? []).length > 0,
    },
    {
      label: 'Put it online',
      about: 'A deployed query answers under its name.',
      to: paths.queries(id),
      isDone: live !== undefined,
    },
    ...(isOwner
      ? [
          {
            label: 'Hand out a key',
            about: 'Programs call with it.',
            to: deployPath(id, 'keys'),
            isDone: reaches,
          },
        ]
      : []),
    {
      label: 'Have a question answered',
      about: 'Ask in plain words with the key, as your callers will.',
      to: askPath(id, undefined, asked),
      isDone: (usage.data?.questions.answered ?? 0) > 0,
    },
  ]
  const isKnown = [sources, queries, usage, ...(isOwner ? [keys] : [])].every(({ data }) => data !== undefined)
  return { steps, isKnown, isDone: isKnown && steps.every((step) => step.isDone) }
}

const listeners = new Set<() => void>()

/** Whether someone has put the steps of a project aside. Kept in this browser, for this person. */
export function useHidden(project: Project): { isHidden: boolean; hide: (hidden: boolean) => void } {
  const key = `sluice-start-hidden ${useUser().id} ${project.id}`
  const isHidden = useSyncExternalStore(
    (listener) => {
      listeners.add(listener)
      return () => void listeners.delete(listener)
    },
    () => localStorage.getItem(key) !== null,
  )
  return {
    isHidden,
    hide(hidden) {
      if (hidden) localStorage.setItem(key, 'yes')
      else localStorage.removeItem(key)
      for (const listener of listeners) listener()
    },
  }
}
