import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { call, callAll } from '../../../client/api.ts'
import { servedRows } from '../../../client/things.ts'
import type { DataObject, Datasource, DataVersion, DescribedObject, Job, Lineage, TableSchema } from './wire.ts'

/** Requests of the Build tab, by the keys under which they are cached. */
export const buildKeys = {
  source: (projectId: string, id: string) => ['projects', projectId, 'datasources', id],
  objectsOf: (projectId: string, sourceId: string) => ['projects', projectId, 'data-objects', 'of', sourceId],
  object: (projectId: string, id: string) => ['projects', projectId, 'data-objects', id],
  rows: (projectId: string, id: string, offset: number) => ['projects', projectId, 'data-objects', id, 'rows', offset],
  lineage: (projectId: string, id: string) => ['projects', projectId, 'data-objects', id, 'lineage'],
  versions: (projectId: string, sourceId: string) => ['projects', projectId, 'datasources', sourceId, 'versions'],
  schema: (projectId: string, sourceId: string) => ['projects', projectId, 'datasources', sourceId, 'schema'],
  authorization: (projectId: string, id: string) => ['projects', projectId, 'datasources', id, 'authorization'],
  jobsOf: (projectId: string, sourceId: string) => ['projects', projectId, 'jobs', 'of', sourceId],
}

export function useDatasource(projectId: string, id: string, enabled: boolean) {
  return useQuery({
    queryKey: buildKeys.source(projectId, id),
    enabled,
    queryFn: ({ signal }) => call<Datasource>('GET', `/v1/projects/${projectId}/datasources/${id}`, { signal }),
  })
}

/** Every load of a table, the newest first. */
export function useVersions(projectId: string, sourceId: string) {
  return useQuery({
    queryKey: buildKeys.versions(projectId, sourceId),
    queryFn: ({ signal }) => callAll<DataVersion>(`/v1/projects/${projectId}/datasources/${sourceId}/versions`, signal),
  })
}

export function useTableSchema(projectId: string, sourceId: string) {
  return useQuery({
    queryKey: buildKeys.schema(projectId, sourceId),
    queryFn: ({ signal }) =>
      call<TableSchema>('GET', `/v1/projects/${projectId}/datasources/${sourceId}/schema`, { signal }),
  })
}

export function useObjectsOf(projectId: string, sourceId: string | undefined) {
  return useQuery({
    queryKey: buildKeys.objectsOf(projectId, sourceId ?? ''),
    enabled: sourceId !== undefined,
    queryFn: ({ signal }) =>
      callAll<DataObject>(`/v1/projects/${projectId}/data-objects?datasource_id=${sourceId}`, signal),
  })
}

/** Fields of the API, as the data that serves has them. */
export function useKnownFields(projectId: string, sourceId: string | undefined): string[] {
  const objects = useObjectsOf(projectId, sourceId)
  const served = servedRows(objects.data ?? []).get(sourceId ?? '')
  return (served?.columns ?? []).map(({ name, source_key: key }) => key ?? name)
}

export function useObject(projectId: string, id: string | undefined) {
  return useQuery({
    queryKey: buildKeys.object(projectId, id ?? ''),
    enabled: id !== undefined,
    queryFn: ({ signal }) => call<DescribedObject>('GET', `/v1/projects/${projectId}/data-objects/${id}`, { signal }),
    // The profile is drawn by a job that ends a moment after the rows are there.
    refetchInterval: ({ state }) => (state.data?.profile === null && state.dataUpdateCount < 20 ? 1500 : false),
    placeholderData: keepPreviousData,
  })
}

export function useLineage(projectId: string, id: string) {
  return useQuery({
    queryKey: buildKeys.lineage(projectId, id),
    queryFn: ({ signal }) => call<Lineage>('GET', `/v1/projects/${projectId}/data-objects/${id}/lineage`, { signal }),
  })
}

export function useJobsOf(projectId: string, sourceId: string) {
  return useQuery({
    queryKey: buildKeys.jobsOf(projectId, sourceId),
    queryFn: ({ signal }) => callAll<Job>(`/v1/projects/${projectId}/jobs?source_id=${sourceId}`, signal),
  })
}
