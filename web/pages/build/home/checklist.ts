import { askPath, deployPath, paths } from '../../../browser/paths.ts'
import { useApiKeys, useDatasources, useQueriesOf } from '../../../client/things.ts'
import type { Project } from '../../../client/wire.ts'
import { useMetrics } from '../../deploy/shared/usage-queries.ts'

export type Step = { label: string; about: string; verb: string; to: string; isDone: boolean }

const monthHours = 30 * 24

/** The way from nothing to an API that answers, and how far the project is: told by what it holds, not by clicks. */
export function useChecklist(project: Project): { steps: Step[]; isKnown: boolean; isDone: boolean } {
  const { id, role } = project
  const isOwner = role === 'owner'
  const sources = useDatasources(id)
  const queries = useQueriesOf(id)
  const keys = useApiKeys(isOwner)
  const usage = useMetrics(id, { environment: null, interval: '1d' }, monthHours)
  const live = (queries.data ?? []).find(({ deployments }) => deployments.length > 0)
  const reaches = (keys.data ?? []).some(
    ({ status, permissions }) =>
      status === 'active' && permissions.some(({ project_id: reached }) => reached === id || reached === '*'),
  )
  const [only] = sources.data ?? []
  const [draft] = queries.data ?? []
  const asked = live?.examples[0]?.question
  const steps: Step[] = [
    {
      label: 'Bring data in',
      about: 'An API of the catalog, one that you know the address of, or files.',
      verb: 'Choose from the catalog',
      to: paths.catalog(id),
      isDone: (sources.data ?? []).length > 0,
    },
    {
      label: 'Fetch it once',
      about: 'What comes back becomes a table.',
      verb: 'Open the connection',
      to: only === undefined ? paths.data(id) : paths.connection(id, only.id),
      isDone: (sources.data ?? []).some(({ refreshed_at: at }) => at !== null),
    },
    {
      label: 'Write SQL over it',
      about: 'One SELECT, with $names for what callers choose.',
      verb: 'Write a query',
      to: `${paths.queries(id)}?new`,
      isDone: (queries.data ?? []).length > 0,
    },
    {
      label: 'Put it online',
      about: 'A deployed query answers under its name.',
      verb: 'Deploy a query',
      to: draft === undefined ? paths.queries(id) : paths.query(id, draft.name),
      isDone: live !== undefined,
    },
    ...(isOwner
      ? [
          {
            label: 'Hand out a key',
            about: 'Programs call with it.',
            verb: 'Make a key',
            to: deployPath(id, 'keys'),
            isDone: reaches,
          },
        ]
      : []),
    {
      label: 'Have a question answered',
      about: 'Ask in plain words with the key, as your callers will.',
      verb: 'Ask a question',
      to: askPath(id, undefined, asked),
      isDone: (usage.data?.questions.answered ?? 0) > 0,
    },
  ]
  const isKnown = [sources, queries, usage, ...(isOwner ? [keys] : [])].every(({ data }) => data !== undefined)
  return { steps, isKnown, isDone: isKnown && steps.every((step) => step.isDone) }
}
