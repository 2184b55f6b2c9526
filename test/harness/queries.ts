import { expectStatus, type Client, type TestApp } from './app.ts'
import { orders, putTable } from './tables.ts'

export type QueryProject = {
  projectId: string
  /** `/v1/projects/{id}/queries` */
  path: string
  /** Calls query endpoints with a key of this project; never limited. */
  caller: Client
  secret: string
  /** Writes a query and deploys it. */
  deploy(query: { name: string; sql: string } & Record<string, unknown>, environment?: string): Promise<void>
}

/** A project with a table `orders` of 30 rows and a key that reaches all of it. */
export async function openQueryProject(t: TestApp, key: Record<string, unknown> = {}): Promise<QueryProject> {
  const projectId = await t.project()
  const path = `/v1/projects/${projectId}/queries`
  await putTable(t.app, projectId, { name: 'orders', rows: orders(30) })
  const made = await expectStatus(
    201,
    t.operator.post('/v1/api-keys', {
      name: 'test',
      plan: 'unlimited',
      permissions: [{ project_id: projectId, environments: '*' }],
      ...key,
    }),
  )
  return {
    projectId,
    path,
    caller: t.withToken(made.body.secret),
    secret: made.body.secret,
    async deploy(query, environment = 'production') {
      const { name, ...content } = query
      const known = await t.operator.get(`${path}/${name}`)
      if (known.status === 404) await expectStatus(201, t.operator.post(path, query))
      else await expectStatus(200, t.operator.put(`${path}/${name}`, content))
      await expectStatus(200, t.operator.post(`${path}/${name}/deploy`, { environment, force: true }))
    },
  }
}
