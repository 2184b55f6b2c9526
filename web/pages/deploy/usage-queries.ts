import { keepPreviousData, useQuery, useQueryClient } from '@tanstack/react-query'
import { useEffect, useState } from 'react'
import { call } from '../../api.ts'
import { usePages } from '../../queries.ts'
import type { Metrics, RequestEntry } from './usage-wire.ts'

const refreshMs = 30_000
/** What the page keeps of what arrives; older calls are in the list behind it. */
const maxArrived = 500

/** What is counted. No environment: all of them. */
export type UsageFilter = { environment: string | null; query?: string | null; key?: string | null }

function searchFor({ environment, query = null, key = null }: UsageFilter, range: Record<string, string>): string {
  const asked = new URLSearchParams(range)
  if (environment !== null) asked.set('environment', environment)
  if (query !== null) asked.set('query', query)
  if (key !== null) asked.set('key_id', key)
  return asked.toString()
}

export function useMetrics(projectId: string, filter: UsageFilter, hours: number, enabled = true) {
  return useQuery({
    enabled,
    queryKey: ['projects', projectId, 'deploy', 'metrics', filter, hours],
    placeholderData: keepPreviousData,
    // Whoever comes back from making a call looks for it.
    staleTime: 0,
    refetchInterval: refreshMs,
    queryFn: ({ signal }) => {
      const search = searchFor(filter, {
        from: new Date(Date.now() - hours * 3_600_000).toISOString(),
        time_zone: new Intl.DateTimeFormat().resolvedOptions().timeZone,
      })
      return call<Metrics>('GET', `/v1/projects/${projectId}/metrics?${search}`, { signal })
    },
  })
}

/** The figures of as long a time before, to compare with. */
export function useMetricsBefore(projectId: string, filter: UsageFilter, hours: number) {
  return useQuery({
    queryKey: ['projects', projectId, 'deploy', 'metrics', filter, hours, 'before'],
    placeholderData: keepPreviousData,
    staleTime: refreshMs,
    queryFn: ({ signal }) => {
      const search = searchFor(filter, {
        from: new Date(Date.now() - 2 * hours * 3_600_000).toISOString(),
        to: new Date(Date.now() - hours * 3_600_000).toISOString(),
      })
      return call<Metrics>('GET', `/v1/projects/${projectId}/metrics?${search}`, { signal })
    },
  })
}

const requestsKey = (projectId: string, search: string) => ['projects', projectId, 'deploy', 'requests', search]

/** The last calls that a search finds, and while `live` those that are made now. */
export function useRequests(projectId: string, search: string, live: boolean) {
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
    // What is made now is not asked since when.
    const tail = new URLSearchParams(search)
    tail.delete('from')
    const stream = new EventSource(`/v1/projects/${projectId}/requests/events?${tail}`)
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
