import { useState } from 'react'
import { readEdit, useSavedEdit } from '../../../browser/saved-edits.ts'
import { useUser } from '../../../client/queries.ts'
import type { Project } from '../../../client/wire.ts'
import type { Datasource } from '../shared/wire.ts'
import { draftOf, emptyDraft, keepable, takenUp, textOfDraft, type Draft } from './fields/draft.ts'

type Asked = { project: Project; source: Datasource | null; initial: Draft }

/** A connection while it is edited. What is not saved is there again when one comes back, except for secrets. */
export function useConnectionDraft({ project, source, initial }: Asked) {
  const stored = source === null ? emptyDraft : draftOf(source)
  const base = textOfDraft(stored)
  const key = `sluice-connection ${useUser().id} ${project.id} ${source?.id ?? 'new'}`
  const [draft, setDraft] = useState<Draft>(() => {
    // A request for the sample gets it, whatever was begun before.
    const savedDraft = source === null && initial !== emptyDraft ? null : (readEdit(key, base) as Draft | null)
    return savedDraft === null ? initial : takenUp(savedDraft, stored)
  })
  const text = textOfDraft(draft)
  const changed = text !== base && text !== textOfDraft(initial)
  useSavedEdit(key, base, changed ? keepable(draft) : null)
  return {
    draft,
    setDraft,
    dirty: changed,
    discard: () => setDraft(stored),
    /** Text typed while `sent` was on its way is the next edit. */
    taken: (saved: Datasource, sent: Draft) => setDraft((now) => (now === sent ? draftOf(saved) : now)),
  }
}
