import { useQueryClient } from '@tanstack/react-query'
import { useLocation } from 'wouter'
import { call } from '../../../client/api.ts'
import { paths } from '../../../browser/paths.ts'
import { useAct, useStoppable } from '../../../client/queries.ts'
import { thingKeys } from '../../../client/things.ts'
import type { Project } from '../../../client/wire.ts'
import { buildKeys } from '../shared/asked.ts'
import type { Datasource, Executed, Job, Tested } from '../shared/wire.ts'
import { bodyOf, configurationOf, type Draft } from './fields/draft.ts'
import { forEachOf } from './fields/for-each.ts'
import { loadOf } from './fields/load.ts'

type Asked = { project: Project; source: Datasource | null; onMade: (source: Datasource) => void }

const executeTimeoutMs = 10 * 60_000

/** The acts on a connection. */
export function useConnectionActs({ project, source, onMade }: Asked) {
  const [, navigate] = useLocation()
  const client = useQueryClient()
  const path = `/v1/projects/${project.id}/datasources`
  const refresh = [thingKeys.sources(project.id), thingKeys.objects(project.id)]

  const store = async (draft: Draft): Promise<Datasource> => {
    const body = {
      ...(draft.name.trim() !== '' && { name: draft.name }),
      config: configurationOf(draft),
      pagination: draft.pagination,
      for_each: forEachOf(draft.forEach),
      load: loadOf(draft.load),
      schedule: draft.schedule === '' ? null : draft.schedule,
      schedule_time_zone: draft.timeZone,
      keep_versions: draft.keepVersions,
    }
    const stored =
      source === null
        ? await call<Datasource>('POST', path, { body: { ...body, kind: 'http_api' } })
        : await call<Datasource>('PATCH', `${path}/${source.id}`, { body })
    client.setQueryData(buildKeys.source(project.id, stored.id), stored)
    if (source === null) {
      onMade(stored)
      navigate(paths.connection(project.id, stored.id), { replace: true })
    }
    const { columns } = draft
    if (columns.length > 0) await call('PATCH', `${path}/${stored.id}/schema`, { body: { columns } })
    return stored
  }
  const test = useStoppable((draft: Draft, signal) => {
    // The tree shows the whole response, and the table below it what the extractor takes.
    const { responsePathExtractor: _taken, ...configuration } = configurationOf(draft)
    const stored = { project_id: project.id, ...(source !== null && { datasource_id: source.id }) }
    const { initialValue } = draft.load
    const first = draft.load.mode !== 'replace' && initialValue.trim() !== '' ? { last_value: initialValue.trim() } : {}
    const body = { ...configuration, ...stored, ...first, detect: true }
    return call<Tested>('POST', '/v1/http/test-connection', { body, timeoutMs: 60_000, signal })
  })
  const save = useAct(store, { refresh, say: ({ name }) => `${name} is saved.` })
  const execute = useStoppable(async (draft: Draft, signal) => {
    const made = await store(draft)
    // A connection with a body, an append or many rows is loaded in the background, which may take its time.
    const isLong = draft.steps.length > 0 || draft.forEach !== null
    if (bodyOf(draft) !== undefined || draft.load.mode !== 'replace' || isLong) {
      return { made, job: await call<Job>('POST', `${path}/${made.id}/refresh`, { signal }) }
    }
    const config = configurationOf(draft)
    const executed = await call<Executed>('POST', '/v1/http/execute-request', {
      timeoutMs: executeTimeoutMs,
      // The server stops calling and stores nothing once nobody waits for its answer.
      signal,
      body: {
        project_id: project.id,
        datasource_id: made.id,
        connect_spec: { name: made.name, id: 'http_api', config },
        ...config,
        ...(draft.pagination !== null && { pagination: draft.pagination }),
      },
    })
    return { made, job: executed.jobs[0] }
  }, refresh)
  const again = useAct(
    ({ full }: { full: boolean }) => call<Job>('POST', `${path}/${source?.id ?? ''}/refresh`, { body: { full } }),
    { refresh: [] },
  )
  return { test, save, execute, refresh: again }
}

export type ConnectionActs = ReturnType<typeof useConnectionActs>
