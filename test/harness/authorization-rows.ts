import { type Row } from './authorization-row.ts'
import { credentials, people, projects } from './authorization-rows-access.ts'
import { data, queries, questions } from './authorization-rows-build.ts'
import { calls, pages, service, usage } from './authorization-rows-service.ts'

/** Every route and who may call it. A route that is not here fails the test, and so does a row without a route. */
export const authorizationRows: Record<string, Row | Row[]> = {
  ...projects,
  ...data,
  ...queries,
  ...questions,
  ...usage,
  ...credentials,
  ...people,
  ...service,
  ...calls,
  ...pages,
}
