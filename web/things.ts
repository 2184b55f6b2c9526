import { useQuery } from '@tanstack/react-query'
import { callAll } from './api.ts'
import type { DataObject, Datasource, Query } from './wire.ts'

/** What a project holds: lists that more than one place shows. */
export const thingKeys = {
  sources: (projectId: string) => ['projects', projectId, 'datasources'],
  objects: (projectId: string) => ['projects', projectId, 'data-objects'],
  queries: (projectId: string) => ['projects', projectId, 'queries'],
}

export function useDatasources(projectId: string, enabled = true) {
  return useQuery({
    queryKey: thingKeys.sources(projectId),
    enabled,
    queryFn: ({ signal }) => callAll<Datasource>(`/v1/projects/${projectId}/datasources`, signal),
  })
}

export function useObjects(projectId: string) {
  return useQuery({
    queryKey: thingKeys.objects(projectId),
    queryFn: ({ signal }) => callAll<DataObject>(`/v1/projects/${projectId}/data-objects`, signal),
  })
}

export function useQueriesOf(projectId: string, enabled = true) {
  return useQuery({
    queryKey: thingKeys.queries(projectId),
    enabled,
    queryFn: ({ signal }) => callAll<Query>(`/v1/projects/${projectId}/queries`, signal),
  })
}

/** The newest rows of each datasource. */
export function newestRows(objects: DataObject[]): Map<string, DataObject> {
  const newest = new Map<string, DataObject>()
  for (const object of objects) {
    const known = newest.get(object.datasource_id)
    if (object.kind === 'response_data' && (known === undefined || object.version > known.version)) {
      newest.set(object.datasource_id, object)
    }
  }
  return newest
}
