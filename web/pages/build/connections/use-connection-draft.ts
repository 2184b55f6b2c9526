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
    change: (part: Partial<Draft>) =>
      setDraft((before) => ({ ...before, ...(source === null && named(before, part)), ...part })),
    dirty: changed,
    discard: () => setDraft(stored),
    /** Text typed while `sent` was on its way is the next edit. */
    taken: (saved: Datasource, sent: Draft) => setDraft((now) => (now === sent ? draftOf(saved) : now)),
  }
}

/** A new address proposes a name, as long as nobody chose one. */
function named(before: Draft, { url }: Partial<Draft>): Partial<Draft> {
  const isOwn = before.name !== '' && before.name !== nameFrom(before.url)
  return url === undefined || isOwn ? {} : { name: nameFrom(url) }
}

const unnamed = /^(v?\d[\w.]*|api|rest|graphql|public)$|[{}]/i

/** `https://api.example.com/v1/order_lines.json?page=2` → `Order lines`; without a path the name of its domain. */
export function nameFrom(address: string): string {
  const [, host = '', path = ''] = /^(?:https?:\/\/([^/?#]*))?([^?#]*)/i.exec(address.trim()) ?? []
  const word = path.split('/').findLast((each) => each !== '' && !unnamed.test(each))
  const domain = /[a-z]/i.test(host) ? host.split(':')[0]?.split('.').at(-2) : undefined
  const words = (word?.replace(/\.\w+$/, '') ?? domain ?? '').replace(/[^a-z0-9]+/gi, ' ').trim()
  return words.charAt(0).toUpperCase() + words.slice(1)
}
