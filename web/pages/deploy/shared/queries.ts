import { keepPreviousData, queryOptions, useQuery, type QueryKey } from '@tanstack/react-query'
import { call, callAll } from '../../../client/api.ts'
import { thingKeys } from '../../../client/things.ts'
import type { Page } from '../../../client/wire.ts'
import type {
  HistoryEntry,
  KeyAddress,
  LiveDeployment,
  Plan,
  Query,
  Reach,
  Version,
  VersionEntry,
  VersionsDiff,
} from './wire.ts'

type OfQuery = { projectId: string; name: string }

export const deployKeys = {
  /** Whatever a deployment changes. */
  queries: thingKeys.queries,
  deployments: (projectId: string): QueryKey => ['projects', projectId, 'deploy', 'live'],
  apiKeys: thingKeys.apiKeys,
}

/** Lineage and map name what is deployed. */
export function changedByDeployment(projectId: string): QueryKey[] {
  return [
    deployKeys.queries(projectId),
    deployKeys.deployments(projectId),
    thingKeys.objects(projectId),
    thingKeys.map(projectId),
  ]
}

const pathOf = ({ projectId, name }: OfQuery): string => `/v1/projects/${projectId}/queries/${name}`

/** The live versions in every environment. */
export function useDeployments(projectId: string) {
  return useQuery({
    queryKey: deployKeys.deployments(projectId),
    queryFn: ({ signal }) => callAll<LiveDeployment>(`/v1/projects/${projectId}/deployments`, signal),
  })
}

export function useOneQuery(of: OfQuery) {
  return useQuery({
    queryKey: thingKeys.query(of.projectId, of.name),
    staleTime: 0,
    queryFn: ({ signal }) => call<Query>('GET', pathOf(of), { signal }),
  })
}

export function useVersions(of: OfQuery) {
  return useQuery({
    queryKey: [...deployKeys.queries(of.projectId), of.name, 'versions'],
    queryFn: ({ signal }) => callAll<VersionEntry>(`${pathOf(of)}/versions`, signal),
  })
}

/** A version never changes; only where it is live does. */
export function versionOf(of: OfQuery, version: number | undefined) {
  return queryOptions({
    queryKey: [...deployKeys.queries(of.projectId), of.name, 'versions', version],
    enabled: version !== undefined,
    queryFn: ({ signal }) => call<Version>('GET', `${pathOf(of)}/versions/${version}`, { signal }),
  })
}

export function useVersion(of: OfQuery, version: number | undefined) {
  return useQuery(versionOf(of, version))
}

export function useDiff(of: OfQuery, from: number | null, to: number | 'draft') {
  return useQuery({
    queryKey: [...deployKeys.queries(of.projectId), of.name, 'diff', from, to],
    enabled: from !== null,
    placeholderData: keepPreviousData,
    queryFn: ({ signal }) => call<VersionsDiff>('GET', `${pathOf(of)}/diff?from=${from}&to=${to}`, { signal }),
  })
}

export function useHistory(of: OfQuery) {
  return useQuery({
    queryKey: [...deployKeys.queries(of.projectId), of.name, 'history'],
    queryFn: ({ signal }) => callAll<HistoryEntry>(`${pathOf(of)}/history`, signal),
  })
}

export function useReach(keyId: string) {
  return useQuery({
    queryKey: [...deployKeys.apiKeys, keyId, 'reach'],
    queryFn: ({ signal }) => callAll<Reach>(`/v1/api-keys/${keyId}/reach`, signal),
  })
}

export function useKeyAddresses(keyId: string) {
  return useQuery({
    queryKey: [...deployKeys.apiKeys, keyId, 'addresses'],
    staleTime: 0,
    queryFn: async ({ signal }) =>
      (await call<Page<KeyAddress>>('GET', `/v1/api-keys/${keyId}/addresses`, { signal })).data,
  })
}

export function usePlans() {
  return useQuery({
    queryKey: ['plans'],
    staleTime: Infinity,
    queryFn: async ({ signal }) => (await call<Page<Plan>>('GET', '/v1/plans', { signal })).data,
  })
}
