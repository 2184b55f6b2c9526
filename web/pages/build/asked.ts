import { keepPreviousData, useQuery, useQueryClient } from '@tanstack/react-query'
import { useEffect } from 'react'
import { call } from '../../api.ts'
import type { Page } from '../../wire.ts'
import type { DataObject, Datasource, DescribedObject, Job, Lineage, Query } from './wire.ts'

/** What the Build tab knows of a project, by the names under which it is kept. */
export const buildKeys = {
  sources: (projectId: string) => ['projects', projectId, 'datasources'],
  source: (projectId: string, id: string) => ['projects', projectId, 'datasources', id],
  objects: (projectId: string) => ['projects', projectId, 'data-objects'],
  objectsOf: (projectId: string, sourceId: string) => ['projects', projectId, 'data-objects', 'of', sourceId],
  object: (projectId: string, id: string) => ['projects', projectId, 'data-objects', id],
  rows: (projectId: string, id: string, offset: number) => ['projects', projectId, 'data-objects', id, 'rows', offset],
  lineage: (projectId: string, id: string) => ['projects', projectId, 'data-objects', id, 'lineage'],
  jobsOf: (projectId: string, sourceId: string) => ['projects', projectId, 'jobs', 'of', sourceId],
  job: (id: string) => ['jobs', id],
  queries: (projectId: string) => ['projects', projectId, 'queries'],
  query: (projectId: string, name: string) => ['projects', projectId, 'queries', name],
}

const list = async <Item>(path: string, signal: AbortSignal): Promise<Item[]> =>
  (await call<Page<Item>>('GET', path, { signal })).data

export function useDatasources(projectId: string) {
  return useQuery({
    queryKey: buildKeys.sources(projectId),
    queryFn: ({ signal }) => list<Datasource>(`/v1/projects/${projectId}/datasources?limit=200`, signal),
  })
}

export function useDatasource(projectId: string, id: string, enabled: boolean) {
  return useQuery({
    queryKey: buildKeys.source(projectId, id),
    enabled,
    queryFn: ({ signal }) => call<Datasource>('GET', `/v1/projects/${projectId}/datasources/${id}`, { signal }),
  })
}

export function useObjects(projectId: string) {
  return useQuery({
    queryKey: buildKeys.objects(projectId),
    queryFn: ({ signal }) => list<DataObject>(`/v1/projects/${projectId}/data-objects?limit=200`, signal),
  })
}

export function useObjectsOf(projectId: string, sourceId: string) {
  return useQuery({
    queryKey: buildKeys.objectsOf(projectId, sourceId),
    queryFn: ({ signal }) =>
      list<DataObject>(`/v1/projects/${projectId}/data-objects?limit=100&datasource_id=${sourceId}`, signal),
  })
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
    queryFn: ({ signal }) => list<Job>(`/v1/projects/${projectId}/jobs?limit=50&source_id=${sourceId}`, signal),
  })
}

export function useQueriesOf(projectId: string) {
  return useQuery({
    queryKey: buildKeys.queries(projectId),
    queryFn: ({ signal }) => list<Query>(`/v1/projects/${projectId}/queries?limit=200`, signal),
  })
}

export function useQueryNamed(projectId: string, name: string) {
  return useQuery({
    queryKey: buildKeys.query(projectId, name),
    queryFn: ({ signal }) => call<Query>('GET', `/v1/projects/${projectId}/queries/${name}`, { signal }),
    // What is being edited must not change under the hands.
    staleTime: Infinity,
  })
}

export function isFinal(job: Pick<Job, 'status'>): boolean {
  return job.status === 'succeeded' || job.status === 'failed' || job.status === 'cancelled'
}

/** A job as it goes: told by the server as it happens, and asked for now and then in case that is cut off. */
export function useLiveJob(projectId: string, jobId: string | null) {
  const client = useQueryClient()
  useEffect(() => {
    if (jobId === null) return undefined
    const events = new EventSource(`/v1/projects/${projectId}/jobs/events`)
    events.addEventListener('job', (event: MessageEvent<string>) => {
      const job = JSON.parse(event.data) as Job
      client.setQueryData(buildKeys.job(job.id), job)
    })
    return () => events.close()
  }, [client, projectId, jobId])
  return useQuery({
    queryKey: buildKeys.job(jobId ?? ''),
    enabled: jobId !== null,
    queryFn: ({ signal }) => call<Job>('GET', `/v1/jobs/${jobId}`, { signal }),
    refetchInterval: ({ state }) => (state.data !== undefined && isFinal(state.data) ? false : 2000),
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
