import { changeVariable, newVariable, variable } from '../../../../api/variables.ts'
import type { App } from '../../../app.ts'
import * as connections from '../../../connections/index.ts'
import type { Http } from '../../request/http.ts'
import { made, nothing, one, operations, page, pageOnly } from '../operations.ts'

const path = '/v1/projects/:project_id/variables'

export function serveVariables(http: Http, app: App): void {
  const { get, post, patch, del } = operations(http, app, 'connections')
  post(
    path,
    {
      summary: 'Keep a variable or a secret that requests name',
      body: newVariable,
      answer: made(variable),
    },
    connections.createVariable,
  )
  get(
    path,
    {
      summary: 'The variables and secrets, without the values of secrets',
      query: pageOnly,
      answer: page(variable),
    },
    connections.listVariables,
  )
  patch(
    `${path}/:variable_id`,
    {
      summary: 'Change what a name stands for, or where a secret may be sent',
      body: changeVariable,
      answer: one(variable),
    },
    connections.updateVariable,
  )
  del(`${path}/:variable_id`, { summary: 'Forget a variable or secret', answer: nothing }, connections.deleteVariable)
}
