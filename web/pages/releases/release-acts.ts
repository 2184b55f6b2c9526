import { useQuery } from '@tanstack/react-query'
import { call } from '../../client/api.ts'
import { useAct, usePages } from '../../client/queries.ts'
import { changedByDeployment } from '../deploy/shared/queries.ts'
import type { Release, ReleaseEntry } from '../deploy/shared/wire.ts'

/** Acts that release something: every draft that differs, all of another environment, or the versions before. */
export type ReleaseAct =
  | { kind: 'release'; environment: string }
  | { kind: 'promote'; from: string; environment: string }
  | { kind: 'rollback'; releaseId: string; environment: string }

const keyOf = (projectId: string) => ['projects', projectId, 'deploy', 'releases']

/** Asking thousands of questions again takes its time. */
const timeoutMs = 300_000

/** Newest first, of one environment. */
export function useReleases(projectId: string, environment: string) {
  const path = `/v1/projects/${projectId}/releases?environment=${environment}&limit=50`
  return usePages<ReleaseEntry>([...keyOf(projectId), environment], path)
}

export function useRelease(projectId: string, releaseId: string) {
  return useQuery({
    queryKey: [...keyOf(projectId), 'one', releaseId],
    queryFn: ({ signal }) => call<Release>('GET', `/v1/projects/${projectId}/releases/${releaseId}`, { signal }),
  })
}

/** The plan of the release. */
export function useReleaseCheck(projectId: string, act: ReleaseAct) {
  return useQuery({
    queryKey: [...keyOf(projectId), 'check', act],
    staleTime: 0,
    gcTime: 0,
    retry: false,
    queryFn: ({ signal }) => {
      const { path, body } = requestOf(projectId, act)
      return call<Release>('POST', path, { body: { ...body, check: true }, signal, timeoutMs })
    },
  })
}

/** The first callers of a release: everyone, a share of the keys, or nobody while its rows are compared. */
export type Trial = 'everyone' | '1' | '10' | '50' | 'shadow'

/** Rolled back by itself where it fails more often, or takes much longer, than what it replaces. */
const carefully = { error_rate: 0.05, p95_factor: 3 }

function trialOf(trial: Trial): Record<string, unknown> {
  if (trial === 'everyone') return {}
  return trial === 'shadow' ? { shadow: true } : { canary: { percent: Number(trial), roll_back_on: carefully } }
}

export function useReleaseAct(projectId: string, act: ReleaseAct) {
  return useAct(
    ({ force, message, trial }: { force: boolean; message: string; trial: Trial }) => {
      const { path, body } = requestOf(projectId, act)
      const why = message.trim() === '' ? {} : { message: message.trim() }
      // Going back passes the gates by itself; there, force would also undo later releases.
      const forced = act.kind === 'rollback' ? {} : { force }
      const tried = act.kind === 'release' ? trialOf(trial) : {}
      return call<Release>('POST', path, { body: { ...body, ...forced, ...tried, ...why }, timeoutMs })
    },
    {
      refresh: [keyOf(projectId), ...changedByDeployment(projectId)],
      say: ({ status, queries, environment }) => {
        const what = queries.length === 1 ? '1 query' : `${queries.length} queries`
        const isTriedOut = status === 'canary' || status === 'shadow'
        return `${what} ${isTriedOut ? 'tried out' : 'changed'} in ${environment}.`
      },
    },
  )
}

/** Rolls a canary or shadow out to every key. */
export function useContinue(projectId: string, releaseId: string) {
  return useAct(
    () => call<Release>('POST', `/v1/projects/${projectId}/releases/${releaseId}/continue`, { body: {}, timeoutMs }),
    {
      refresh: [keyOf(projectId), ...changedByDeployment(projectId)],
      say: ({ environment }) => `Rolled out to all in ${environment}.`,
    },
  )
}

function requestOf(projectId: string, act: ReleaseAct): { path: string; body: Record<string, unknown> } {
  const project = `/v1/projects/${projectId}`
  const { environment } = act
  if (act.kind === 'promote') return { path: `${project}/promote`, body: { from: act.from, to: environment } }
  if (act.kind === 'rollback') return { path: `${project}/releases/${act.releaseId}/rollback`, body: {} }
  return { path: `${project}/releases`, body: { environment, queries: 'all' } }
}
