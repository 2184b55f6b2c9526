import { api, changeApi, newApi } from '../../../../api/apis.ts'
import type { App } from '../../../app.ts'
import * as connections from '../../../connections/index.ts'
import type { Http } from '../../request/http.ts'
import { made, nothing, one, operations, page, pageOnly } from '../operations.ts'

const apis = '/v1/projects/:project_id/apis'
const path = `${apis}/:api_id`
const authored = { body: 'authored' } as const

export function serveApis(http: Http, app: App): void {
  const { get, post, patch, del } = operations(http, app, 'connections')
  post(
    apis,
    {
      config: authored,
      summary: 'Keep an API that several connections share: address, headers, authentication, rate',
      body: newApi,
      answer: made(api),
    },
    connections.createApi,
  )
  get(apis, { summary: 'The APIs, without their secrets', query: pageOnly, answer: page(api) }, connections.listApis)
  get(path, { summary: 'One API', answer: one(api) }, connections.findApi)
  patch(
    path,
    { config: authored, summary: 'Change an API, and with it its connections', body: changeApi, answer: one(api) },
    connections.updateApi,
  )
  del(path, { summary: 'Delete an API that no connection uses', answer: nothing }, connections.deleteApi)
}
