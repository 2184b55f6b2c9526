import { isSecretName } from '../../api/secret-names.ts'
import type { Vault } from '../access/index.ts'
import type { Clock } from '../clock.ts'
import type { LiveVersion } from '../queries/index.ts'
import type { Database } from '../store/index.ts'
import { fillRedacted } from './fill-redacted.ts'
import { readRecordedCalls } from './recorded-calls.ts'
import type { CallRecorder } from './recorder.ts'
import { readReplaySettings } from './settings.ts'

type Parts = { store: Database; vault: Vault; recorder: CallRecorder; now: Clock }
type Parameters = Record<string, unknown>

/** Limit over all queries together: each call has at most 16 kB. */
const maxCalls = 2_000
const dayMs = 86_400_000

/**
 * The values of recent calls by query, newest first, of the environments that are named. What a project keeps out of the
 * record is filled in as for a replay; a call of which a value is missing is left out. None where it records nothing.
 */
export async function callsToRun(
  app: Parts,
  input: { projectId: string; environments: string[]; versions: LiveVersion[]; each: number },
): Promise<Map<string, Parameters[]>> {
  const { projectId, environments, versions, each } = input
  const settings = await readReplaySettings(app.store, projectId)
  const byQuery = new Map<string, Parameters[]>()
  if (!settings.recording || versions.length === 0) return byQuery
  await app.recorder.flush()
  const redacted = new Set(settings.redactedSlots)
  const byId = new Map(versions.map((version) => [version.queryId, version]))
  for (const environment of environments) {
    const calls = await readRecordedCalls(app, {
      projectId,
      environment,
      queryIds: [...byId.keys()],
      from: new Date(app.now() - settings.days * dayMs),
      limit: Math.min(maxCalls, byId.size * each),
    })
    for (const { queryId, parameters } of calls) {
      const version = byId.get(queryId)
      const own = byQuery.get(queryId) ?? []
      if (version === undefined || own.length >= each * environments.length) continue
      const filled = fillRedacted(parameters, version, redacted)
      if (filled.missing === null) byQuery.set(queryId, [...own, filled.parameters])
    }
  }
  return byQuery
}

/**
 * The values of the last recorded call of a deployed query, as a replay would run it; null where none is recorded. What
 * goes by the name of a secret is not told.
 */
export async function readLastCall(
  app: Parts,
  { projectId, environment, version }: { projectId: string; environment: string; version: LiveVersion },
): Promise<{ recording: boolean; parameters: Record<string, unknown> | null }> {
  const { recording } = await readReplaySettings(app.store, projectId)
  const calls = await callsToRun(app, { projectId, environments: [environment], versions: [version], each: 1 })
  const [last] = calls.get(version.queryId) ?? []
  if (last === undefined) return { recording, parameters: null }
  return { recording, parameters: Object.fromEntries(Object.entries(last).filter(([name]) => !isSecretName(name))) }
}
