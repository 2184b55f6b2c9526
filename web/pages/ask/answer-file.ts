import type { Chart } from '../../../api/queries.ts'
import { call } from '../../client/api.ts'
import type { Download } from '../../parts/cells/model.ts'
import { callForFile, type CallRequest, type Outcome } from '../query/call/calls.ts'
import type { Place } from '../deploy/shared/place.ts'
import type { QuestionResult } from './question-result.ts'
import type { Version } from '../deploy/shared/wire.ts'

/** Fields of an answered question beside its rows. */
type Body = { version?: number; chart?: Chart }

function bodyOf({ body }: Outcome): Body {
  return typeof body === 'object' && body !== null ? body : {}
}

export function chartOf(outcome: Outcome | undefined): Chart | null {
  return outcome === undefined ? null : (bodyOf(outcome).chart ?? null)
}

/** A file of the rows that answered a question: with a key the same question, else the query that it was taken for. */
export function fileOf(
  { project, editor }: Place,
  { result, outcome, request }: { result: QuestionResult; outcome: Outcome; request: CallRequest },
): Download | undefined {
  const { query, parameters } = result
  if (query === null) return undefined
  if (request.key !== null) return { name: query, fetch: (format) => callForFile(request, format) }
  const { version } = bodyOf(outcome)
  // A viewer has the rows at hand only.
  if (!editor || version === undefined) return { name: query }
  const path = `/v1/projects/${project.id}/queries/${query}`
  return {
    name: query,
    async fetch(format) {
      const { sql, slots } = await call<Version>('GET', `${path}/versions/${version}`)
      const body = { parameters, sql, slots }
      return callForFile({ path: `${path}/preview`, headers: {}, body, key: null }, format)
    },
  }
}
