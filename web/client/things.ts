import { useQuery } from '@tanstack/react-query'
import { callAll } from './api.ts'
import type { ApiKey, DataObject, Datasource, Query } from './wire.ts'

/** Lists of a project that more than one place shows. */
export const thingKeys = {
  sources: (projectId: string) => ['projects', projectId, 'datasources'],
  objects: (projectId: string) => ['projects', projectId, 'data-objects'],
  queries: (projectId: string) => ['projects', projectId, 'queries'],
  query: (projectId: string, name: string) => ['projects', projectId, 'queries', name],
  map: (projectId: string) => ['projects', projectId, 'map'],
  apiKeys: ['api-keys'],
}

export function useDatasources(projectId: string, enabled = true) {
  return useQuery({
    queryKey: thingKeys.sources(projectId),
    enabled,
    queryFn: ({ signal }) => callAll<Datasource>(`/v1/projects/${projectId}/datasources`, signal),
  })
}

export function useObjects(projectId: string, enabled = true) {
  return useQuery({
    queryKey: thingKeys.objects(projectId),
    enabled,
    queryFn: ({ signal }) => callAll<DataObject>(`/v1/projects/${projectId}/data-objects`, signal),
  })
}

export function useQueriesOf(projectId: string, enabled = true) {
  return useQuery({
    queryKey: thingKeys.queries(projectId),
    enabled,
    // Deploying, a command line and other people change what stands beside each.
    staleTime: 0,
    queryFn: ({ signal }) => callAll<Query>(`/v1/projects/${projectId}/queries`, signal),
  })
}

/** Only those whose every project the reader owns are in the list. */
export function useApiKeys(enabled = true) {
  return useQuery({
    queryKey: thingKeys.apiKeys,
    enabled,
    queryFn: ({ signal }) => callAll<ApiKey>('/v1/api-keys', signal),
  })
}

/** The rows of each datasource that queries read; the newest where none serve yet. */
export function servedRows(objects: DataObject[]): Map<string, DataObject> {
  const served = new Map<string, DataObject>()
  for (const object of objects) {
    if (object.kind !== 'response_data') continue
    const known = served.get(object.datasource_id)
    if (known === undefined || ranksBefore(object, known)) served.set(object.datasource_id, object)
  }
  return served
}

function ranksBefore(one: DataObject, other: DataObject): boolean {
  return one.is_live === other.is_live ? one.version > other.version : one.is_live
}
