import { afterAll, beforeAll, expect, test } from 'vitest'
import { expectStatus, openTestApp, type Client, type TestApp } from '../harness/app.ts'
import { openQueryProject, type QueryProject } from '../harness/queries.ts'

let t: TestApp
let origin: string
let greedy: QueryProject
let neighbour: QueryProject
beforeAll(async () => {
  t = await openTestApp()
  origin = await t.http.listen({ host: '127.0.0.1', port: 0 })
  greedy = await openQueryProject(t)
  neighbour = await openQueryProject(t)
})
afterAll(() => t.close())

const keyOf = async (projectId: string, by: Client = t.operator): Promise<string> => {
  const permissions = [{ project_id: projectId, environments: ['production'] }]
  const { body } = await expectStatus(201, by.post('/v1/api-keys', { name: 'k', permissions }))
  return body.secret
}

/** Streams by several keys. They are held, not only counted: fetch hangs up on an answer that nobody holds any more. */
function openListeners() {
  const leaving = new AbortController()
  const responses: Response[] = []
  return {
    listen: async (secret: string): Promise<number> => {
      const headers = { authorization: `Bearer ${secret}`, accept: 'text/event-stream' }
      const response = await fetch(`${origin}/mcp`, { headers, signal: leaving.signal })
      responses.push(response)
      if (response.status !== 200) await response.text()
      return response.status
    },
    open: () => responses.filter(({ status }) => status === 200).length,
    leave: () => leaving.abort(),
  }
}

test('a project that takes all streams with twelve keys leaves some to every other one', async () => {
  const { listen, open, leave } = openListeners()
  for (let key = 0; key < 12; key += 1) {
    const secret = await keyOf(greedy.projectId)
    for (let at = 0; at < 20; at += 1) await listen(secret)
  }
  expect(open()).toBeGreaterThan(100)
  expect(open()).toBeLessThan(150)
  const secret = await keyOf(neighbour.projectId)
  for (let at = 0; at < 15; at += 1) expect(await listen(secret)).toBe(200)
  leave()
})

test('a person who takes all streams with keys of twelve projects leaves some to every other one', async () => {
  const { listen, open, leave } = openListeners()
  const person = await t.member(greedy.projectId, 'owner')
  for (let project = 0; project < 12; project += 1) {
    const { body } = await expectStatus(201, person.post('/v1/projects', { name: `Greedy ${project}` }))
    const secret = await keyOf(body.id, person)
    for (let at = 0; at < 20; at += 1) await listen(secret)
  }
  expect(open()).toBeGreaterThan(100)
  expect(open()).toBeLessThan(150)
  const secret = await keyOf(neighbour.projectId, await t.member(neighbour.projectId, 'owner'))
  for (let at = 0; at < 15; at += 1) expect(await listen(secret)).toBe(200)
  leave()
})
