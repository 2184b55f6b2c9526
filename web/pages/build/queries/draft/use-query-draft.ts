import { useDebouncedValue } from '@mantine/hooks'
import { keepPreviousData, useQuery, useQueryClient } from '@tanstack/react-query'
import { useEffect, useRef, useState } from 'react'
import { call, isRefusal } from '../../../../client/api.ts'
import { saveEdit, readEdit } from '../../../../browser/saved-edits.ts'
import type { Download } from '../../../../parts/cells/model.ts'
import { useAct, useStoppable, useUser } from '../../../../client/queries.ts'
import type { Project } from '../../../../client/wire.ts'
import { buildKeys } from '../../shared/asked.ts'
import type { Explained, Preview, Query, SlotsSchema, TriedQuestion } from '../../shared/wire.ts'
import { inspect } from './inspect.ts'
import { parametersOf, type SlotValues } from '../slots/slots.ts'
import { mistakeOf } from '../sql/sql-mistake.ts'

export type Content = Pick<Query, 'sql' | 'slots' | 'description' | 'examples' | 'cache_seconds' | 'chart'>

/** A query while it is edited: what differs from what is saved, what the server makes of it, and its acts. */
export function useQueryDraft(project: Project, query: Query) {
  const editKey = `sluice-draft ${useUser().id} ${project.id} ${query.name}`
  const base = String(query.revision)
  const [content, setContent] = useState<Content>(() => (readEdit(editKey, base) as Content | null) ?? contentOf(query))
  const [generation, setGeneration] = useState(0)
  const [values, setValues] = useState<SlotValues>({})
  const client = useQueryClient()
  const editor = project.role !== 'viewer'
  const dirty = JSON.stringify(content) !== JSON.stringify(contentOf(query))
  // The newest text, also while the page has yet to draw it: acts take this.
  const latest = useRef(content)
  const set = (next: Content): void => {
    latest.current = next
    saveEdit(editKey, base, JSON.stringify(next) === JSON.stringify(contentOf(query)) ? null : next)
    setContent(next)
  }
  const change = (part: Partial<Content>): void => set({ ...latest.current, ...part })

  // As text: an object that is new each time would never settle.
  const [settledText] = useDebouncedValue(JSON.stringify({ sql: content.sql, slots: content.slots }), 400)
  const settled = JSON.parse(settledText) as Pick<Content, 'sql' | 'slots'>
  const inspection = useQuery({
    queryKey: ['projects', project.id, 'inspection', settledText],
    enabled: editor && settled.sql.trim() !== '',
    queryFn: ({ signal }) => inspect(project.id, settled, signal),
    placeholderData: keepPreviousData,
    retry: false,
  })
  const suggested = inspection.isPlaceholderData ? undefined : inspection.data?.slots
  useEffect(() => {
    if (suggested === undefined || JSON.stringify(suggested) === JSON.stringify(content.slots)) return
    // Only what was inspected may be replaced: the person may have typed on.
    if (settled.sql === content.sql) change({ slots: suggested })
    // oxlint-disable-next-line react-hooks/exhaustive-deps -- when there is something new to take over
  }, [suggested])

  const path = `/v1/projects/${project.id}/queries/${query.name}`
  const save = useAct(
    async () => {
      const sent = latest.current
      const saved = await call<Query>('PUT', path, {
        body: sent,
        headers: { 'if-match': `"${query.revision}"` },
      })
      client.setQueryData(buildKeys.query(project.id, query.name), saved)
      // Text typed meanwhile is the next edit.
      if (latest.current === sent) {
        set(contentOf(saved))
        saveEdit(editKey, base, null)
      }
      return saved
    },
    { refresh: [], say: () => 'The draft is saved.' },
  )
  const body = () => ({
    sql: latest.current.sql,
    slots: latest.current.slots,
    parameters: parametersOf(latest.current.slots, values),
  })
  const run = useStoppable((_input: void, signal) =>
    call<Preview>('POST', `${path}/preview`, { body: body(), timeoutMs: 120_000, signal }),
  )
  const download: Download = {
    name: query.name,
    fetch: (format) =>
      fetch(`${path}/preview?format=${format}`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(body()),
      }),
  }
  const plan = useAct(() => call<Explained>('POST', `${path}/explain`, { body: body() }), { refresh: [] })
  const ask = useAct(
    (question: string) =>
      call<TriedQuestion>('POST', `/v1/projects/${project.id}/ask`, {
        body: { question, draft: query.name, time_zone: new Intl.DateTimeFormat().resolvedOptions().timeZone },
      }),
    { refresh: [] },
  )
  /** Which values the words of a question give to this query, as it is saved; none where it cannot be read. */
  const read = useAct(
    async (question: string) => {
      const body = {
        question,
        draft: query.name,
        query_name: query.name,
        time_zone: new Intl.DateTimeFormat().resolvedOptions().timeZone,
      }
      const tried = await call<TriedQuestion>('POST', `/v1/projects/${project.id}/ask`, { body }).catch(
        (error: unknown) => {
          // A saved draft may not run yet: the values are then typed by hand.
          if (isRefusal(error)) return null
          throw error
        },
      )
      const found = { ...tried?.routing?.parameters, ...tried?.parameters }
      const known = Object.keys(latest.current.slots.properties)
      const parameters = Object.fromEntries(
        Object.entries(found).filter(([slot, value]) => known.includes(slot) && value !== null),
      )
      return { question, parameters }
    },
    { refresh: [] },
  )
  return {
    content,
    change,
    values,
    setValues,
    dirty,
    generation,
    discard: () => {
      set(contentOf(query))
      setGeneration(generation + 1)
    },
    /** A change that somebody else has written: fields that show what was typed begin anew with it. */
    take: (part: Partial<Content>) => {
      change(part)
      setGeneration(generation + 1)
    },
    editor,
    inspection,
    mistake: mistakeOf(inspection.error),
    save,
    run,
    download,
    storageKey: `${project.id} query ${query.name}`,
    plan,
    ask,
    read,
  }
}

export type QueryDraft = ReturnType<typeof useQueryDraft>

function contentOf({ sql, slots, description, examples, cache_seconds, chart }: Query): Content {
  return { sql, slots: plain(slots), description, examples, cache_seconds, chart }
}

/** In one order, so that equal schemas are equal text. */
function plain({ type, properties, required, additionalProperties, ...rest }: SlotsSchema): SlotsSchema {
  return { type, properties, required, additionalProperties, ...rest }
}
