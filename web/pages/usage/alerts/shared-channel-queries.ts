import { useQuery } from '@tanstack/react-query'
import { call } from '../../../client/api.ts'
import type { Page } from '../../../client/wire.ts'
import type { SharedChannel } from '../../deploy/shared/usage-wire.ts'

export const channelsKey = (projectId: string) => ['projects', projectId, 'deploy', 'alert-channels']
export const channelsPath = (projectId: string): string => `/v1/projects/${projectId}/alert-channels`

/** The channels that a project has for all its alerts. */
export function useSharedChannels(projectId: string) {
  return useQuery({
    queryKey: channelsKey(projectId),
    queryFn: async ({ signal }) => (await call<Page<SharedChannel>>('GET', channelsPath(projectId), { signal })).data,
  })
}
