import { keepPreviousData, useQuery, useQueryClient } from '@tanstack/react-query'
import { useEffect, useState } from 'react'
import { call } from '../../../client/api.ts'
import { usePages } from '../../../client/queries.ts'
import { momentsOf, spanBefore, type Span } from '../../../parts/chart/spans.ts'
import type { Metrics, QueryFigures, RequestEntry, Timeline } from './usage-wire.ts'

const refreshMs = 30_000
/** The newest calls that the page holds; older ones are in the list below. */
const maxArrived = 500

/** The counted calls. No environment: all of them. */
export type UsageFilter = {
  environment: string | null
  query?: string | null
  version?: string | null
  key?: string | null
  entry?: string | null
  status?: string | null
  outcome?: string | null
  /** Where no chart is drawn, a piece for each day is enough: an hour each is 25 kB a week. */
  interval?: '1d'
}

function searchFor({ key = null, ...filter }: UsageFilter, range: Record<string, string>): string {
  const asked = new URLSearchParams(range)
  for (const [name, value] of Object.entries(filter)) if (value !== null) asked.set(name, value)
  if (key !== null) asked.set('key_id', key)
  return asked.toString()
}

const timeZone = (): string => new Intl.DateTimeFormat().resolvedOptions().timeZone

/** A number is so many hours until now. */
export function useMetrics(projectId: string, filter: UsageFilter, asked: Span | number, enabled = true) {
  const span = typeof asked === 'number' ? { hours: asked } : asked
  return useQuery({
    enabled,
    queryKey: ['projects', projectId, 'deploy', 'metrics', filter, span],
    placeholderData: keepPreviousData,
    // A visitor who comes back from making a call looks for it.
    staleTime: 0,
    refetchInterval: refreshMs,
    queryFn: ({ signal }) => {
      const search = searchFor(filter, { ...momentsOf(span, Date.now()), time_zone: timeZone() })
      return call<Metrics>('GET', `/v1/projects/${projectId}/metrics?${search}`, { signal })
    },
  })
}

/** The figures of as long a time before, to compare with. */
export function useMetricsBefore(projectId: string, filter: UsageFilter, span: Span) {
  return useQuery({
    queryKey: ['projects', projectId, 'deploy', 'metrics', filter, span, 'before'],
    placeholderData: keepPreviousData,
    staleTime: refreshMs,
    queryFn: ({ signal }) => {
      const search = searchFor(filter, { ...spanBefore(span, Date.now()), time_zone: timeZone() })
      return call<Metrics>('GET', `/v1/projects/${projectId}/metrics?${search}`, { signal })
    },
  })
}

/** Every endpoint's figures of a week, and of the week before, in one call. */
export function useQueryFigures(projectId: string, environment: string) {
  return useQuery({
    queryKey: ['projects', projectId, 'deploy', 'metrics', 'queries', environment],
    staleTime: 0,
    refetchInterval: refreshMs,
    queryFn: ({ signal }) => {
      const search = searchFor({ environment }, { time_zone: timeZone() })
      return call<QueryFigures>('GET', `/v1/projects/${projectId}/metrics/queries?${search}`, { signal })
    },
  })
}

/** The events beside the calls: releases, alerts, data that was held. */
export function useTimeline(projectId: string, environment: string | null, span: Span) {
  return useQuery({
    queryKey: ['projects', projectId, 'deploy', 'timeline', environment, span],
    placeholderData: keepPreviousData,
    staleTime: 0,
    refetchInterval: refreshMs,
    queryFn: ({ signal }) => {
      const search = searchFor({ environment }, momentsOf(span, Date.now()))
      return call<Timeline>('GET', `/v1/projects/${projectId}/timeline?${search}`, { signal })
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
    // A live stream has no beginning in time.
    const tail = new URLSearchParams(search)
    tail.delete('from')
    tail.delete('to')
    const stream = new EventSource(`/v1/projects/${projectId}/requests/events?${tail}`)
    // Calls between the list and the stream are in neither.
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
