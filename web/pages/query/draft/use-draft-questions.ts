import { call, isRefusal } from '../../../client/api.ts'
import { useAct } from '../../../client/queries.ts'
import type { TriedQuestion } from '../../build/shared/wire.ts'
import type { Edited } from './content.ts'

/** Questions asked of the draft as it is saved: where they would go, and which values their words give. */
export function useDraftQuestions({ project, query, latest }: Edited) {
  const put = (question: string, more: object = {}): Promise<TriedQuestion> =>
    call<TriedQuestion>('POST', `/v1/projects/${project.id}/ask`, {
      body: { question, draft: query?.name, time_zone: new Intl.DateTimeFormat().resolvedOptions().timeZone, ...more },
    })
  const ask = useAct((question: string) => put(question), { refresh: [] })
  const read = useAct(
    async (question: string) => {
      const tried = await put(question, { query_name: query?.name }).catch((error: unknown) => {
        // A saved draft may not run yet: the values are then typed by hand.
        if (isRefusal(error)) return null
        throw error
      })
      const found = { ...tried?.routing?.parameters, ...tried?.parameters }
      const known = Object.keys(latest.current.slots.properties)
      const parameters = Object.fromEntries(
        Object.entries(found).filter(([slot, value]) => known.includes(slot) && value !== null),
      )
      return { question, parameters }
    },
    { refresh: [] },
  )
  return { ask, read }
}
