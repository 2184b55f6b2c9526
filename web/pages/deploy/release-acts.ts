import { useQuery } from '@tanstack/react-query'
import { call } from '../../api.ts'
import { useAct, usePages } from '../../queries.ts'
import { thingKeys } from '../../things.ts'
import { deployKeys } from './queries.ts'
import type { Release, ReleaseEntry } from './wire.ts'

/** What releases something: every draft that differs, all of another environment, or what was there before. */
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

/** What it would do. */
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

export function useReleaseAct(projectId: string, act: ReleaseAct) {
  return useAct(
    ({ force, message }: { force: boolean; message: string }) => {
      const { path, body } = requestOf(projectId, act)
      const why = message.trim() === '' ? {} : { message: message.trim() }
      // Going back passes the gates by itself; there, force would also undo later releases.
      const forced = act.kind === 'rollback' ? {} : { force }
      return call<Release>('POST', path, { body: { ...body, ...forced, ...why }, timeoutMs })
    },
    {
      refresh: [
        keyOf(projectId),
        deployKeys.queries(projectId),
        deployKeys.deployments(projectId),
        thingKeys.queries(projectId),
      ],
      say: ({ queries, environment }) =>
        queries.length === 1
          ? `1 query changed in ${environment}.`
          : `${queries.length} queries changed in ${environment}.`,
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
