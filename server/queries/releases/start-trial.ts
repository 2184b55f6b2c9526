import type { Transaction } from 'kysely'
import { recordAct, type Caller } from '../../access/index.ts'
import { newId } from '../../ids.ts'
import type { Tables, TrialRules, TrialState } from '../../store/index.ts'
import { insertTrial } from '../deployed/trial-rows.ts'
import { maxNamed } from './rows.ts'

/** How a release is to be tried out. */
export type NewTrial = { kind: 'canary' | 'shadow'; percent: number; rules: TrialRules; at: Date }

type Started = NewTrial & {
  projectId: string
  environment: string
  releaseId: string
  put: Array<{ name: string; queryId: string; versionId: string }>
}

/** From now on it answers its share of the keys. What answered before stays where it is. */
export async function startTrial(
  transaction: Transaction<Tables>,
  caller: Caller,
  { kind, percent, rules, at, projectId, environment, releaseId, put }: Started,
): Promise<TrialState> {
  const compares = kind === 'shadow' || (rules.rollBackOn?.differences ?? null) !== null
  const replayId = compares ? newId('replay') : null
  const share = Math.round(percent * 100)
  const trial = { releaseId, projectId, environment, kind, share, rules, replayId, at, versions: put }
  await insertTrial(transaction, trial)
  const state: TrialState = {
    ...rules,
    percent,
    replayId,
    startedAt: at.toISOString(),
    steppedAt: at.toISOString(),
    endedAt: null,
    because: null,
    judgedAt: null,
    queries: [],
    compared: null,
  }
  await transaction
    .updateTable('releases')
    .set({ [kind]: JSON.stringify(state) })
    .where('id', '=', releaseId)
    .execute()
  const names = put.slice(0, maxNamed).map(({ name }) => name)
  const details = { environment, percent, queries: names, query_count: put.length }
  await recordAct(transaction, caller, { action: `release.${kind}_started`, target: releaseId, projectId, details })
  return state
}
