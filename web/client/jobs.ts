import { useQuery, useQueryClient, type QueryClient } from '@tanstack/react-query'
import { useEffect } from 'react'
import { call, callAll } from './api.ts'
import { thingKeys } from './things.ts'
import { sayCount, sayNumber, saySize } from '../text/words.ts'
import type { Job } from './wire.ts'

const jobKeys = {
  job: (id: string) => ['jobs', id],
  running: (projectId: string) => ['projects', projectId, 'jobs', 'running'],
}

/** Looked for this often; while one runs the server tells by itself. */
const lookMs = 5_000

const doing: Record<string, string> = {
  build_dataline_from_connected_resource: 'Looking at the columns',
  refresh_datasource: 'Fetching the data again',
}

/** A running job in words, as the beginning of a sentence. */
export function sayJob(job: Pick<Job, 'job_type'> | undefined): string {
  return doing[job?.job_type ?? ''] ?? 'Working'
}

type Loading = Pick<Job, 'status' | 'progress' | 'details' | 'started_at'>

/** How far it is: what a load has fetched, and of how many rows where that is known, else the share. */
export function sayProgress({ status, progress, details }: Loading): string {
  if (status === 'queued') return 'waiting'
  if (details === null) return `${Math.round(progress * 100)} %`
  const { pages, rows, bytes, estimate } = details
  const isEstimated = estimate !== undefined && estimate.rows > rows
  const counted = isEstimated ? `${sayNumber(rows)} of about ${sayCount(estimate.rows, 'row')}` : sayCount(rows, 'row')
  return `${sayCount(pages, 'page')}, ${counted}, ${saySize(bytes)}`
}

const tooEarlyMs = 5_000

/** How long it still takes, if the rest comes as fast as what is there; empty where that cannot be told. */
export function sayTimeLeft({ status, details, started_at: startedAt }: Loading): string {
  if (status !== 'running' || startedAt === null || details?.estimate === undefined || details.rows === 0) return ''
  const elapsedMs = Date.now() - Date.parse(startedAt)
  const left = details.estimate.rows - details.rows
  if (elapsedMs < tooEarlyMs || left <= 0) return ''
  const seconds = ((elapsedMs / details.rows) * left) / 1000
  return seconds < 60 ? 'less than a minute left' : `about ${sayCount(Math.round(seconds / 60), 'minute')} left`
}

export function isFinal(job: Pick<Job, 'status'>): boolean {
  return job.status === 'succeeded' || job.status === 'failed' || job.status === 'cancelled'
}

export function cancelJob(jobId: string): Promise<Job> {
  return call<Job>('POST', `/v1/jobs/${jobId}/cancel`)
}

/** A job as it goes: told by the server as it happens, and asked for now and then in case that is cut off. */
export function useLiveJob(projectId: string, jobId: string) {
  useJobEvents(projectId, true)
  return useQuery({
    queryKey: jobKeys.job(jobId),
    queryFn: ({ signal }) => call<Job>('GET', `/v1/jobs/${jobId}`, { signal }),
    refetchInterval: ({ state }) => (state.data !== undefined && isFinal(state.data) ? false : 2000),
  })
}

/** The jobs of a project that are not finished, oldest first. */
export function useRunningJobs(projectId: string): Job[] {
  const asked = useQuery({
    queryKey: jobKeys.running(projectId),
    refetchInterval: lookMs,
    queryFn: async ({ signal }) => {
      const path = `/v1/projects/${projectId}/jobs?status=`
      const running = await callAll<Job>(`${path}running`, signal, true)
      const queued = await callAll<Job>(`${path}queued`, signal, true)
      return [...new Map([...running, ...queued].map((job) => [job.id, job])).values()]
    },
  })
  const jobs = asked.data ?? []
  // A stream holds one of the few connections that a browser grants, so it is open only while there is news.
  useJobEvents(projectId, jobs.length > 0)
  return jobs.toSorted((one, other) => one.created_at.localeCompare(other.created_at))
}

/** Hears of jobs as they end, and has what they change read again. */
export function useJobEvents(projectId: string, open: boolean): void {
  const client = useQueryClient()
  useEffect(() => {
    if (!open) return undefined
    const events = new EventSource(`/v1/projects/${projectId}/jobs/events`)
    events.addEventListener('job', (event: MessageEvent<string>) => {
      take(client, projectId, JSON.parse(event.data) as Job)
    })
    return () => events.close()
  }, [client, projectId, open])
}

function take(client: QueryClient, projectId: string, job: Job): void {
  client.setQueryData(jobKeys.job(job.id), job)
  client.setQueryData<Job[]>(jobKeys.running(projectId), (known) => {
    const others = (known ?? []).filter(({ id }) => id !== job.id)
    return isFinal(job) ? others : [...others, job]
  })
  if (isFinal(job)) refreshAfter(client, projectId)
}

/** Refreshes the lists that a finished job may have changed. */
export function refreshAfter(client: QueryClient, projectId: string): void {
  for (const queryKey of [
    thingKeys.sources(projectId),
    thingKeys.objects(projectId),
    thingKeys.map(projectId),
    ['projects', projectId, 'jobs'],
  ]) {
    void client.invalidateQueries({ queryKey })
  }
}
