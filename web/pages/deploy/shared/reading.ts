import { queryOptions } from '@tanstack/react-query'
import { call } from '../../../client/api.ts'
import type { SlotsSchema, TriedQuestion } from './wire.ts'

type Reading = { projectId: string; environment: string; question: string; query: string }

/** Which values a question gives to the slots of a query, as it is written now. For editors. */
export function readingOf({ projectId, environment, question, query }: Reading) {
  return queryOptions({
    queryKey: ['projects', projectId, 'questions', 'reading', environment, query, question],
    staleTime: Infinity,
    retry: false,
    queryFn: async ({ signal }) => {
      const body = {
        question,
        environment,
        draft: query,
        query_name: query,
        time_zone: new Intl.DateTimeFormat().resolvedOptions().timeZone,
      }
      const tried = await call<TriedQuestion>('POST', `/v1/projects/${projectId}/ask`, { body, signal })
      return { ...tried.routing?.parameters, ...tried.parameters }
    },
  })
}

/** Values as an example takes them: what is left empty is no value, whatever the words of the question are. */
export function givenValues({ properties }: SlotsSchema, values: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(Object.keys(properties).map((slot) => [slot, values[slot] ?? null]))
}

export function missingOf({ required }: SlotsSchema, values: Record<string, unknown>): string[] {
  return required.filter((slot) => values[slot] === undefined || values[slot] === null)
}
