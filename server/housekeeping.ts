import { endLapsedGrants, forgetExpired, forgetOldAddresses, forgetOldSignIns } from './access/index.ts'
import type { App } from './app.ts'
import { forgetOldCalls, forgetOldGrants, maskStoredConfigurations } from './connections/index.ts'
import { sweepFiles } from './data/index.ts'
import { openPeriodic } from './flow/index.ts'
import { forgetOldJobs } from './jobs/index.ts'
import { forgetOldChecks } from './queries/index.ts'
import { forgetOldQuestions } from './questions/index.ts'
import { forgetOldReplays, forgetRecordedCalls } from './rollout/index.ts'
import { forgetLapsedLeases } from './store/index.ts'
import { sweepTrino } from './trino/index.ts'
import { forgetOldAlerts, keepUsage } from './usage/index.ts'

const hourMs = 60 * 60 * 1000

/** Removes what has had its time, at once and then every hour. Safe on several processes: each act finds less to do. */
export function maintain(app: App): () => Promise<void> {
  const acts = {
    sessions: forgetExpired,
    'access of assistants': endLapsedGrants,
    'sign-ins of programs': forgetOldSignIns,
    'addresses of keys': forgetOldAddresses,
    jobs: forgetOldJobs,
    calls: forgetOldCalls,
    'upstream grants': forgetOldGrants,
    configurations: maskStoredConfigurations,
    questions: forgetOldQuestions,
    releases: forgetOldChecks,
    'tables of Trino': sweepTrino,
    files: sweepFiles,
    usage: keepUsage,
    alerts: forgetOldAlerts,
    'recorded calls': forgetRecordedCalls,
    replays: forgetOldReplays,
    leases: forgetLapsedLeases,
  }
  const work = async (): Promise<void> => {
    for (const [name, act] of Object.entries(acts)) {
      await act(app).catch((error: unknown) => app.observe({ kind: 'fault', where: `housekeeping of ${name}`, error }))
    }
  }
  const onError = (error: unknown): void => app.observe({ kind: 'fault', where: 'housekeeping', error })
  const periodic = openPeriodic({ everyMs: hourMs, work, onError })
  periodic.run()
  return () => periodic.close()
}
