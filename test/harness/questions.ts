import { openTestApp, type Client, type TestApp } from './app.ts'
import { openQueryProject, type QueryProject } from './queries.ts'

type Ask = (
  query: string,
  more?: Record<string, unknown>,
  headers?: Record<string, string>,
) => ReturnType<Client['post']>

export const region = { type: 'string', enum: ['north', 'south', 'east'] }
export const inRegion = {
  name: 'orders_in_region',
  description: 'The orders that came from a region',
  sql: 'SELECT id, amount FROM orders WHERE region = $region ORDER BY id',
  slots: { type: 'object', properties: { region }, required: ['region'] },
  examples: [
    { question: 'Which orders came from the north?', parameters: { region: 'north' } },
    { question: 'show orders of the south', parameters: { region: 'south' } },
    { question: 'list what was ordered in the east', parameters: { region: 'east' } },
  ],
}
export const biggest = {
  name: 'biggest_orders',
  description: 'The orders with the highest amounts',
  sql: 'SELECT id, amount FROM orders ORDER BY amount DESC LIMIT $count',
  slots: { type: 'object', properties: { count: { type: 'integer', minimum: 1, maximum: 20, default: 3 } } },
  examples: [
    { question: 'What are the biggest orders?' },
    { question: 'top 5 orders by amount', parameters: { count: 5 } },
    { question: 'the largest orders we had' },
  ],
}

/** An app with a project whose two queries answer questions about orders. */
export async function openQuestions(
  ...app: Parameters<typeof openTestApp>
): Promise<{ t: TestApp; q: QueryProject; ask: Ask }> {
  const t = await openTestApp(...app)
  const q = await openQueryProject(t)
  await q.deploy(inRegion)
  await q.deploy(biggest)
  const ask: Ask = (query, more = {}, headers = {}) =>
    q.caller.post('/v1/query', { query, project_id: q.projectId, ...more }, headers)
  return { t, q, ask }
}
