import { editor, owner, row, viewer, type Row } from './authorization-row.ts'

/** What a project is made of: connections and data, queries and releases, questions. */

const sql = 'SELECT id FROM orders'
const evaluation = { question: 'Which orders came from the north?', expected_query: null }

const rowTest = (name: string) => ({ name, model: 'nothing', expect: [] })

export const data: Record<string, Row> = {
  'POST /v1/http/test-connection': row('signed-in')({ body: ({ url }) => ({ url, method: 'GET' }) }),
  'POST /v1/http/import-curl': row('signed-in')({ body: { command: 'curl https://example.org' } }),
  'POST /v1/http/import': row('signed-in')({ body: { text: '{"openapi":"3.1.0","paths":{}}' } }),
  'POST /v1/http/execute-request': editor({
    body: ({ project_id, datasource_id, url }) => ({
      project_id,
      datasource_id,
      connect_spec: { name: 'stock', id: 'http_api' },
      url,
      method: 'GET',
    }),
  }),
  'GET /v1/projects/:project_id/datasources': viewer(),
  'POST /v1/projects/:project_id/datasources': editor({
    status: 201,
    body: ({ unique }) => ({ name: unique, kind: 'http_api' }),
  }),
  'GET /v1/projects/:project_id/datasources/:datasource_id': viewer(),
  'PATCH /v1/projects/:project_id/datasources/:datasource_id': editor({ body: { keep_versions: 5 } }),
  'GET /v1/projects/:project_id/datasources/:datasource_id/schema': viewer(),
  'PATCH /v1/projects/:project_id/datasources/:datasource_id/schema': editor({ body: { on_mismatch: 'widen' } }),
  'GET /v1/projects/:project_id/datasources/:datasource_id/versions': viewer(),
  'POST /v1/projects/:project_id/datasources/:datasource_id/versions/:version/activate': editor(),
  'POST /v1/projects/:project_id/datasources/:datasource_id/versions/:version/restore': editor(),
  'DELETE /v1/projects/:project_id/datasources/:datasource_id': editor({
    status: 204,
    fresh: { datasource_id: 'datasource' },
  }),
  'POST /v1/projects/:project_id/datasources/:datasource_id/refresh': editor({
    status: 201,
    fresh: { datasource_id: 'datasource' },
  }),
  'POST /v1/projects/:project_id/datasources/:datasource_id/files': editor({ status: 201, body: { id: 1 } }),
  'GET /v1/projects/:project_id/datasources/:datasource_id/authorization': viewer({
    fresh: { datasource_id: 'connectedDatasource' },
  }),
  'POST /v1/projects/:project_id/datasources/:datasource_id/authorization': row('editor-in-person')({
    status: 201,
    fresh: { datasource_id: 'connectedDatasource' },
  }),
  'DELETE /v1/projects/:project_id/datasources/:datasource_id/authorization': editor({
    status: 204,
    fresh: { datasource_id: 'connectedDatasource' },
  }),
  'GET /v1/projects/:project_id/models': viewer(),
  'POST /v1/projects/:project_id/models': editor({ status: 201, body: ({ unique }) => ({ name: unique, sql }) }),
  'POST /v1/projects/:project_id/models/from-list': editor({
    status: 201,
    body: ({ unique }) => ({ table: 'lists', column: 'members', name: unique }),
  }),
  'GET /v1/projects/:project_id/models/:model_name': viewer({ fresh: { model_name: 'model' } }),
  'PUT /v1/projects/:project_id/models/:model_name': editor({ fresh: { model_name: 'model' }, body: { sql } }),
  'DELETE /v1/projects/:project_id/models/:model_name': editor({ status: 204, fresh: { model_name: 'model' } }),
  'POST /v1/projects/:project_id/models/:model_name/rebuild': editor({ status: 201, fresh: { model_name: 'model' } }),
  'POST /v1/projects/:project_id/models/:model_name/compare': editor({ fresh: { model_name: 'model' }, body: {} }),
  'GET /v1/projects/:project_id/tests': viewer(),
  'PUT /v1/projects/:project_id/tests': editor({ body: ({ unique }) => rowTest(unique) }),
  'DELETE /v1/projects/:project_id/tests/:test_name': editor({ status: 204, fresh: { test_name: 'rowTest' } }),
  'POST /v1/projects/:project_id/tests/run': editor({ body: { tests: [] } }),
  // It is not deployed there.
  'POST /v1/projects/:project_id/tests/from-call': editor({
    status: 404,
    body: { query: 'orders_in_region', environment: 'nowhere' },
  }),
  // Nobody comes back from anywhere here.
  'POST /v1/oauth/return': row('person')({ status: 400, body: { server: 'x', state: 'x', code: 'x' } }),
  'GET /v1/projects/:project_id/variables': viewer(),
  'POST /v1/projects/:project_id/variables': editor({
    status: 201,
    body: ({ unique }) => ({ name: unique, value: 'v' }),
  }),
  'PATCH /v1/projects/:project_id/variables/:variable_id': editor({ body: { value: 'w' } }),
  'DELETE /v1/projects/:project_id/variables/:variable_id': editor({ status: 204, fresh: { variable_id: 'variable' } }),
  'GET /v1/projects/:project_id/apis': viewer(),
  'POST /v1/projects/:project_id/apis': editor({
    status: 201,
    body: ({ unique, url }) => ({ name: unique, config: { url } }),
  }),
  'GET /v1/projects/:project_id/apis/:api_id': viewer(),
  'PATCH /v1/projects/:project_id/apis/:api_id': editor({ body: { rate: { requests: 5 } } }),
  'DELETE /v1/projects/:project_id/apis/:api_id': editor({ status: 204, fresh: { api_id: 'api' } }),
  'GET /v1/projects/:project_id/data-objects': viewer(),
  'GET /v1/projects/:project_id/data-objects/:data_object_id': viewer(),
  'DELETE /v1/projects/:project_id/data-objects/:data_object_id': editor({
    status: 204,
    fresh: { data_object_id: 'dataObject' },
  }),
  'GET /v1/projects/:project_id/data-objects/:data_object_id/lineage': viewer(),
  'GET /v1/projects/:project_id/data-objects/:data_object_id/rows': viewer(),
  'GET /v1/projects/:project_id/data-objects/:data_object_id/download': viewer(),
  'GET /v1/projects/:project_id/map': viewer(),
  'GET /v1/projects/:project_id/jobs': viewer(),
  'GET /v1/projects/:project_id/jobs/events': viewer({ stream: true }),
  'GET /v1/jobs/:job_id': viewer(),
  'POST /v1/jobs/:job_id/cancel': editor({ fresh: { job_id: 'queuedJob' } }),
  'POST /v1/jobs/:job_id/retry': editor({ status: 201, fresh: { job_id: 'cancelledJob' } }),
}

const query = '/v1/projects/:project_id/queries/:query_name'
export const queries: Record<string, Row> = {
  'GET /v1/projects/:project_id/queries': viewer(),
  'POST /v1/projects/:project_id/queries': editor({ status: 201, body: ({ unique }) => ({ name: unique, sql }) }),
  'POST /v1/projects/:project_id/queries/inspect': editor({ body: { sql } }),
  'POST /v1/projects/:project_id/queries/run': editor({ body: { sql } }),
  [`GET ${query}`]: viewer(),
  [`PUT ${query}`]: editor({ body: { description: 'The orders that came from a region' } }),
  [`PUT ${query}/tags`]: editor({ body: { tags: ['sales'] } }),
  [`POST ${query}/rename`]: editor({ fresh: { query_name: 'query' }, body: ({ unique }) => ({ name: unique }) }),
  [`DELETE ${query}`]: editor({ status: 204, fresh: { query_name: 'query' } }),
  [`POST ${query}/preview`]: editor({ body: { parameters: { region: 'north' } } }),
  [`POST ${query}/explain`]: editor({ body: { parameters: { region: 'north' } } }),
  [`POST ${query}/deploy`]: editor({
    fresh: { query_name: 'query' },
    body: { environment: 'development', force: true },
  }),
  [`POST ${query}/promote`]: editor({ body: { from: 'production', to: 'staging', check: true } }),
  [`POST ${query}/rollback`]: editor({ body: { version: 1 } }),
  [`POST ${query}/undeploy`]: editor({ body: { check: true } }),
  [`GET ${query}/advice`]: editor(),
  [`GET ${query}/versions`]: viewer(),
  [`GET ${query}/versions/:version`]: viewer(),
  [`GET ${query}/diff`]: viewer({ search: '?from=1' }),
  [`GET ${query}/history`]: viewer(),
  'GET /v1/projects/:project_id/deployments': viewer(),
  'GET /v1/projects/:project_id/releases': viewer(),
  'POST /v1/projects/:project_id/releases': editor({
    body: ({ query_name: name }) => ({ queries: [{ name }], check: true }),
  }),
  'GET /v1/projects/:project_id/releases/:release_id': viewer(),
  'POST /v1/projects/:project_id/releases/:release_id/rollback': editor({ body: { check: true, force: true } }),
  'POST /v1/projects/:project_id/promote': editor({ body: { from: 'production', to: 'staging', check: true } }),
  'GET /v1/projects/:project_id/definition': viewer(),
  'PUT /v1/projects/:project_id/definition': editor({ search: '?check=true', body: { definition: 1, queries: [] } }),
  'POST /v1/projects/:project_id/releases/:release_id/continue': editor({ status: 409, body: { percent: 50 } }),
  'GET /v1/projects/:project_id/replay-settings': viewer(),
  'POST /v1/projects/:project_id/engine': owner({ status: 409, body: { engine: 'trino' } }),
  'GET /v1/projects/:project_id/replays': viewer(),
  'POST /v1/projects/:project_id/replays': editor({ status: 409, body: { environment: 'staging' } }),
  'GET /v1/projects/:project_id/replays/:replay_id': viewer(),
  'GET /v1/projects/:project_id/replays/:replay_id/calls': viewer(),
  'GET /v1/projects/:project_id/replays/:replay_id/calls/:call_id': editor(),
  // Last: switching it off deletes the call that is read above.
  'PUT /v1/projects/:project_id/replay-settings': owner({ body: { recording: false } }),
}

export const questions: Record<string, Row> = {
  'POST /v1/projects/:project_id/ask': viewer({ body: { question: 'Which orders came from the south?' } }),
  'GET /v1/projects/:project_id/questions': viewer(),
  'GET /v1/projects/:project_id/questions/unanswered': viewer(),
  'POST /v1/projects/:project_id/questions/resolve': editor({
    body: { questions: ['What is the weather?'], as: 'dismissed' },
  }),
  'GET /v1/projects/:project_id/questions/settings': viewer(),
  'PUT /v1/projects/:project_id/questions/settings': owner({ body: { log: 'full', retention_days: 30 } }),
  'POST /v1/projects/:project_id/questions/:request_id/report': viewer({
    status: 201,
    body: { expected_query: null },
    fresh: { request_id: 'question' },
  }),
  'GET /v1/projects/:project_id/counter-examples': viewer(),
  'POST /v1/projects/:project_id/counter-examples/:counter_example_id/confirm': editor(),
  'DELETE /v1/projects/:project_id/counter-examples/:counter_example_id': editor({
    status: 204,
    fresh: { counter_example_id: 'counterExample' },
  }),
  'GET /v1/projects/:project_id/evaluations': viewer(),
  'POST /v1/projects/:project_id/evaluations': editor({
    status: 201,
    body: ({ unique }) => ({ question: `Is ${unique} there?`, expected_query: null }),
  }),
  'PUT /v1/projects/:project_id/evaluations/:evaluation_id': editor({ body: evaluation }),
  'DELETE /v1/projects/:project_id/evaluations/:evaluation_id': editor({
    status: 204,
    fresh: { evaluation_id: 'evaluation' },
  }),
  'POST /v1/projects/:project_id/evaluations/run': editor({ status: 201, body: {} }),
  'GET /v1/projects/:project_id/evaluations/runs': viewer(),
  'GET /v1/projects/:project_id/evaluations/runs/:run_id': viewer(),
}
