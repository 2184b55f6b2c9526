import { keepPreviousData, useQuery, useQueryClient } from '@tanstack/react-query'
import { useEffect, useState } from 'react'
import { call } from '../../api.ts'
import { usePages } from '../../queries.ts'
import type { Metrics, RequestEntry } from './usage-wire.ts'

const refreshMs = 30_000
/** What the page keeps of what arrives; older calls are in the list behind it. */
const maxArrived = 500

export type UsageFilter = { environment: string; query: string | null }

export function useMetrics(projectId: string, { environment, query }: UsageFilter, hours: number, enabled = true) {
  return useQuery({
    enabled,
    queryKey: ['projects', projectId, 'deploy', 'metrics', environment, query, hours],
    placeholderData: keepPreviousData,
    // Whoever comes back from making a call looks for it.
    staleTime: 0,
    refetchInterval: refreshMs,
    queryFn: ({ signal }) => {
      const asked = new URLSearchParams({
        environment,
        from: new Date(Date.now() - hours * 3_600_000).toISOString(),
        time_zone: new Intl.DateTimeFormat().resolvedOptions().timeZone,
      })
      if (query !== null) asked.set('query', query)
      return call<Metrics>('GET', `/v1/projects/${projectId}/metrics?${asked}`, { signal })
    },
  })
}

/** The figures of as long a time before, to compare with. */
export function useMetricsBefore(projectId: string, { environment, query }: UsageFilter, hours: number) {
  return useQuery({
    queryKey: ['projects', projectId, 'deploy', 'metrics', environment, query, hours, 'before'],
    placeholderData: keepPreviousData,
    staleTime: refreshMs,
    queryFn: ({ signal }) => {
      const asked = new URLSearchParams({
        environment,
        from: new Date(Date.now() - 2 * hours * 3_600_000).toISOString(),
        to: new Date(Date.now() - hours * 3_600_000).toISOString(),
      })
      if (query !== null) asked.set('query', query)
      return call<Metrics>('GET', `/v1/projects/${projectId}/metrics?${asked}`, { signal })
    },
  })
}

const requestsKey = (projectId: string, search: string) => ['projects', projectId, 'deploy', 'requests', search]

/** The last calls, and while `live` those that are made now. */
export function useRequests(projectId: string, { environment, query }: UsageFilter, live: boolean) {
  const asked = new URLSearchParams({ environment })
  if (query !== null) asked.set('query', query)
  const search = asked.toString()
  const [hasGap, setHasGap] = useState(false)
  const [arrived, setArrived] = useState<{ search: string; list: RequestEntry[] }>({ search, list: [] })
  const client = useQueryClient()
  const recorded = usePages<RequestEntry>(
    requestsKey(projectId, search),
    `/v1/projects/${projectId}/requests?${search}&limit=100`,
  )
  useEffect(() => {
    if (!live) return undefined
    // The browser connects again by itself when the stream ends.
    const stream = new EventSource(`/v1/projects/${projectId}/requests/events?${search}`)
    // What was called between the list and the stream is in neither.
    stream.addEventListener('open', () => {
      setHasGap(false)
      void client.invalidateQueries({ queryKey: requestsKey(projectId, search) })
    })
    stream.addEventListener('gap', () => setHasGap(true))
    stream.addEventListener('request', (event: MessageEvent<string>) => {
      const entry = JSON.parse(event.data) as RequestEntry
      setArrived((before) => ({
        search,
        list: [entry, ...(before.search === search ? before.list : [])].slice(0, maxArrived),
      }))
    })
    return () => stream.close()
  }, [client, projectId, search, live])
  const fresh = arrived.search === search ? arrived.list : []
  const known = new Set(fresh.map(({ id }) => id))
  const data = recorded.data && [...fresh, ...recorded.data.filter(({ id }) => !known.has(id))]
  return { ...recorded, data, hasGap }
}
