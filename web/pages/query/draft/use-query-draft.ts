import { useDebouncedValue } from '@mantine/hooks'
import { keepPreviousData, useQuery, useQueryClient } from '@tanstack/react-query'
import { useEffect, useRef, useState } from 'react'
import { call } from '../../../client/api.ts'
import { saveEdit, readEdit } from '../../../browser/saved-edits.ts'
import { useAct, useUser } from '../../../client/queries.ts'
import { thingKeys } from '../../../client/things.ts'
import type { Project } from '../../../client/wire.ts'
import type { Query } from '../../build/shared/wire.ts'
import type { SlotValues } from '../slots/slots.ts'
import { mistakeOf } from '../sql/sql-mistake.ts'
import { contentOf, freshContent, type Content } from './content.ts'
import { inspect } from './inspect.ts'
import { useDraftRuns } from './use-draft-runs.ts'
import { useDraftQuestions } from './use-draft-questions.ts'

/** A query while it is edited: what differs from what is saved, what the server makes of it, and its acts. */
export function useQueryDraft(project: Project, query: Query | null, table: string) {
  const edit = useEdit(project, query, table)
  const { content, latest, change, settle } = edit
  const [values, setValues] = useState<SlotValues>({})
  const client = useQueryClient()
  const inspection = useInspected(project, content, change)
  const save = useAct(
    async () => {
      const sent = latest.current
      const saved = await call<Query>('PUT', `/v1/projects/${project.id}/queries/${query?.name}`, {
        body: sent,
        headers: { 'if-match': `"${edit.saved?.revision}"` },
      })
      client.setQueryData(thingKeys.query(project.id, saved.name), saved)
      settle(saved, sent)
      return saved
    },
    { refresh: [], say: () => 'The draft is saved.' },
  )
  const of = { project, query, latest, values }
  return {
    ...edit,
    values,
    setValues,
    editor: project.role !== 'viewer',
    inspection,
    mistake: mistakeOf(inspection.error),
    save,
    ...useDraftRuns(of),
    ...useDraftQuestions(of),
  }
}

export type QueryDraft = ReturnType<typeof useQueryDraft>

/** The text as it is written, kept in this window until it is saved. */
function useEdit(project: Project, query: Query | null, table: string) {
  const editKey = `sluice-draft ${useUser().id} ${project.id} ${query?.name ?? `new ${table}`}`
  // Saved when the edit began: a change by somebody else is taken over only where nothing would be lost.
  const [saved, setSaved] = useState(query)
  const base = String(saved?.revision ?? 'new')
  const begun = saved === null ? freshContent(table) : contentOf(saved)
  const [content, setContent] = useState<Content>(() => (readEdit(editKey, base) as Content | null) ?? begun)
  const [generation, setGeneration] = useState(0)
  const isDirty = (next: Content): boolean => JSON.stringify(next) !== JSON.stringify(begun)
  const dirty = isDirty(content)
  // The newest text, also while the page has yet to draw it: acts take this.
  const latest = useRef(content)
  const set = (next: Content): void => {
    latest.current = next
    saveEdit(editKey, base, isDirty(next) ? next : null)
    setContent(next)
  }
  const anew = (next: Content): void => {
    set(next)
    setGeneration((before) => before + 1)
  }
  const change = (part: Partial<Content>): void => set({ ...latest.current, ...part })
  if (query !== null && saved !== null && query.revision > saved.revision && !dirty) {
    setSaved(query)
    setContent(contentOf(query))
    setGeneration(generation + 1)
  }
  useEffect(() => {
    if (!dirty) latest.current = content
  }, [dirty, content])
  return {
    content,
    latest,
    saved,
    change,
    dirty,
    generation,
    /** After a save of `sent`: text typed meanwhile is the next edit. */
    settle: (now: Query, sent: Content) => {
      setSaved(now)
      if (latest.current !== sent) return
      latest.current = contentOf(now)
      setContent(latest.current)
      saveEdit(editKey, base, null)
    },
    discard: () => anew(begun),
    /** A change that somebody else has written: fields that show what was typed begin anew with it. */
    take: (part: Partial<Content>) => anew({ ...latest.current, ...part }),
  }
}

/** The tables, slots and columns of the SQL, a moment after it was typed. */
function useInspected(project: Project, content: Content, change: (part: Partial<Content>) => void) {
  // As text: an object that is new each time would never settle.
  const [settledText] = useDebouncedValue(JSON.stringify({ sql: content.sql, slots: content.slots }), 400)
  const settled = JSON.parse(settledText) as Pick<Content, 'sql' | 'slots'>
  const client = useQueryClient()
  const keyOf = (text: string): string[] => ['projects', project.id, 'inspection', text]
  const inspection = useQuery({
    queryKey: keyOf(settledText),
    enabled: project.role !== 'viewer' && settled.sql.trim() !== '',
    queryFn: ({ signal }) => inspect(project.id, settled, signal),
    placeholderData: keepPreviousData,
    retry: false,
  })
  const suggested = inspection.isPlaceholderData ? undefined : inspection.data?.slots
  useEffect(() => {
    if (suggested === undefined || JSON.stringify(suggested) === JSON.stringify(content.slots)) return
    // Only what was inspected may be replaced: the person may have typed on.
    if (settled.sql !== content.sql) return
    // The same text with the slots that were read from it is known already: buttons beside it must not go and come.
    client.setQueryData(keyOf(JSON.stringify({ sql: settled.sql, slots: suggested })), inspection.data)
    change({ slots: suggested })
    // oxlint-disable-next-line react-hooks/exhaustive-deps -- when there is something new to take over
  }, [suggested])
  return inspection
}
