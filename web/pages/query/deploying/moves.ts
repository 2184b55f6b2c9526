import { useQuery } from '@tanstack/react-query'
import { call } from '../../../client/api.ts'
import { deployPath } from '../../../browser/paths.ts'
import { useAct } from '../../../client/queries.ts'
import { changedByDeployment, deployKeys } from '../../deploy/shared/queries.ts'
import type { DeployReport, HistoryEntry } from '../../deploy/shared/wire.ts'

/** Acts that make a version answer somewhere. A deployment without `version` is one of the draft. */
export type Move =
  | { kind: 'deploy'; environment: string; version?: number }
  | { kind: 'promote'; from: string; environment: string }
  | { kind: 'rollback'; environment: string; version: number }

type OfQuery = { projectId: string; name: string }

const pathOf = ({ projectId, name }: OfQuery): string => `/v1/projects/${projectId}/queries/${name}`

/** The report of the move. Rolling back is checked as the deployment of that version, which it is. */
export function useReport(of: OfQuery, move: Move) {
  return useQuery({
    queryKey: [...deployKeys.queries(of.projectId), of.name, 'report', move],
    staleTime: 0,
    gcTime: 0,
    queryFn: ({ signal }) => {
      const { environment } = move
      if (move.kind === 'promote') {
        return call<DeployReport>('POST', `${pathOf(of)}/promote`, {
          body: { from: move.from, to: environment, check: true },
          signal,
        })
      }
      const { version } = move
      return call<DeployReport>('POST', `${pathOf(of)}/deploy`, { body: { environment, check: true, version }, signal })
    },
  })
}

/** Whom and which questions the end of a deployment would meet. */
export function useEndReport(of: OfQuery, environment: string) {
  return useQuery({
    queryKey: [...deployKeys.queries(of.projectId), of.name, 'end', environment],
    staleTime: 0,
    gcTime: 0,
    queryFn: ({ signal }) =>
      call<DeployReport>('POST', `${pathOf(of)}/undeploy`, { body: { environment, check: true }, signal }),
  })
}

export function useMove(of: OfQuery, move: Move) {
  return useAct((force: boolean) => makeMove(of, move, force), {
    refresh: changedByDeployment(of.projectId),
    say: ({ name, version, environment }) => `Version ${version} of ${name} now answers in ${environment}.`,
    lead: ({ name, environment }) => ({
      to: deployPath(of.projectId, `endpoints/${name}`, environment),
      label: 'Open the endpoint',
    }),
  })
}

export function useUndeploy(of: OfQuery, environment: string) {
  return useAct(() => call<DeployReport>('POST', `${pathOf(of)}/undeploy`, { body: { environment } }), {
    refresh: changedByDeployment(of.projectId),
    say: () => `${of.name} no longer answers in ${environment}.`,
  })
}

function makeMove(of: OfQuery, move: Move, force: boolean): Promise<DeployReport> {
  const { kind, environment } = move
  const body =
    kind === 'promote'
      ? { from: move.from, to: environment, force }
      : kind === 'rollback'
        ? { environment, version: move.version }
        : { environment, force, version: move.version }
  return call<DeployReport>('POST', `${pathOf(of)}/${kind}`, { body })
}

/** Where rolling back leads when no version is named: what was live before the last change here. */
export function findPrevious(history: HistoryEntry[], environment: string): number | null {
  const last = history.find(
    (each) =>
      each.environment === environment && each.previous_version !== null && each.previous_version !== each.version,
  )
  return last?.previous_version ?? null
}
