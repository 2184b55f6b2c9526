import { call } from '../../../client/api.ts'
import { useAct, useStoppable, useUser } from '../../../client/queries.ts'
import type { Download } from '../../../parts/cells/model.ts'
import type { Explained, Preview } from '../../build/shared/wire.ts'
import { parametersOf } from '../slots/slots.ts'
import { usePastRuns } from './past-runs.ts'
import type { Edited } from './content.ts'

/** Runs of the text as it stands, its plan, and its rows as a file. */
export function useDraftRuns({ project, query, latest, values }: Edited) {
  const queries = `/v1/projects/${project.id}/queries`
  const storageKey = `${project.id} query ${query?.name ?? ''}`
  const past = usePastRuns(`sluice-runs ${useUser().id} ${storageKey}`)
  const body = () => {
    const { sql, slots } = latest.current
    return { sql, slots, parameters: parametersOf(slots, values) }
  }
  const run = useStoppable(async (_input: void, signal) => {
    const at = new Date().toISOString()
    const sent = body()
    const path = query === null ? `${queries}/run` : `${queries}/${query.name}/preview`
    try {
      const answer = await call<Preview>('POST', path, { body: sent, timeoutMs: 120_000, signal })
      past.note({ at, sql: sent.sql, rows: answer.row_count, elapsedMs: answer.execution_time_ms, error: null })
      return answer
    } catch (error) {
      const words = signal.aborted ? 'Cancelled' : error instanceof Error ? error.message : 'Failed'
      past.note({ at, sql: sent.sql, rows: null, elapsedMs: null, error: words })
      throw error
    }
  })
  const download: Download = {
    name: query?.name ?? 'result',
    ...(query !== null && {
      fetch: (format) =>
        fetch(`${queries}/${query.name}/preview?format=${format}`, {
          method: 'POST',
          headers: { 'content-type': 'application/json' },
          body: JSON.stringify(body()),
        }),
    }),
  }
  const plan = useAct(() => call<Explained>('POST', `${queries}/${query?.name}/explain`, { body: body() }), {
    refresh: [],
  })
  return { run, past, plan, download, storageKey }
}
