import type { Transaction } from 'kysely'
import { Failure } from '../failure.ts'
import { lockEnvironment } from '../projects/index.ts'
import type { Tables } from '../store/index.ts'
import type { Deployments } from './deployments.ts'

type Place = { projectId: string; environment: string; name: string }

/** What else answers in a place, as this process knows it: what its questions are compared with. */
export type Neighbours = Map<string, string>

export function knownNeighbours(
  app: { deployments: Deployments },
  { projectId, environment, name }: Place,
): Neighbours {
  const others = app.deployments.list(projectId, environment).filter((each) => each.name !== name)
  return new Map(others.map((each) => [each.name, each.version.id]))
}

/**
 * The names of those that are others by now. Holds the environment until the transaction ends: two deployments that
 * take the same question, each compared with what was there before, must not both go through.
 */
export async function changedNeighbours(
  transaction: Transaction<Tables>,
  { projectId, environment, name }: Place,
  known: Neighbours,
): Promise<string[]> {
  await lockEnvironment(transaction, { projectId, environment })
  const rows = await transaction
    .selectFrom('deployments')
    .select(['name', 'versionId'])
    .where('projectId', '=', projectId)
    .where('environment', '=', environment)
    .where('name', '!=', name)
    .execute()
  // One that has gone takes no question.
  return rows.filter((row) => known.get(row.name) !== row.versionId).map((row) => row.name)
}

export function neverQuiet({ environment }: Place): Failure {
  return new Failure('conflict', {
    reason: 'changed_meanwhile',
    message: `What is deployed in ${environment} keeps changing. Deploy again.`,
  })
}
