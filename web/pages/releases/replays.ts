import { useQuery } from '@tanstack/react-query'
import { call } from '../../client/api.ts'
import { usePages } from '../../client/queries.ts'
import type { Replay, ReplayCall, ReplayCallEntry, ReplayOutcome } from '../deploy/shared/wire.ts'

const keyOf = (projectId: string, replayId: string) => ['projects', projectId, 'deploy', 'replays', replayId]
const pathOf = (projectId: string, replayId: string): string => `/v1/projects/${projectId}/replays/${replayId}`
const refreshMs = 2_000

/** The state of a replay: asked for again while it runs. */
export function useReplay(projectId: string, replayId: string | null, known?: Replay) {
  const id = replayId ?? ''
  return useQuery({
    queryKey: keyOf(projectId, id),
    enabled: replayId !== null,
    ...(known !== undefined && { initialData: known, staleTime: refreshMs }),
    refetchInterval: ({ state }) => state.data?.kind === 'replay' && state.data.status === 'running' && refreshMs,
    queryFn: ({ signal }) => call<Replay>('GET', pathOf(projectId, id), { signal }),
  })
}

/** Its calls of one outcome. `calls`, how many were run, changes while it goes on. */
export function useReplayCalls(
  projectId: string,
  { id, calls, outcome }: { id: string; calls: number; outcome: ReplayOutcome },
) {
  const path = `${pathOf(projectId, id)}/calls?outcome=${outcome}&limit=20`
  return usePages<ReplayCallEntry>([...keyOf(projectId, id), 'calls', outcome, calls], path)
}

/** One of them with its values and rows. It never changes. */
export function useReplayCall(projectId: string, { replayId, callId }: { replayId: string; callId: string }) {
  return useQuery({
    queryKey: [...keyOf(projectId, replayId), 'call', callId],
    staleTime: Infinity,
    queryFn: ({ signal }) => call<ReplayCall>('GET', `${pathOf(projectId, replayId)}/calls/${callId}`, { signal }),
  })
}
