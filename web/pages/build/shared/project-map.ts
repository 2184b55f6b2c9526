import { useQuery } from '@tanstack/react-query'
import { call } from '../../../client/api.ts'
import { thingKeys } from '../../../client/things.ts'
import type { Project, ProjectMap } from '../../../client/wire.ts'

/** The project from its sources to its callers; `everyMs` where it is watched. */
export function useProjectMap(project: Project, everyMs?: number) {
  return useQuery({
    queryKey: thingKeys.map(project.id),
    queryFn: ({ signal }) => call<ProjectMap>('GET', `/v1/projects/${project.id}/map`, { signal }),
    ...(everyMs !== undefined && { refetchInterval: everyMs }),
  })
}
