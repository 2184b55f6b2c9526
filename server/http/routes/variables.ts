import { z } from 'zod'
import { pageOf, pageQuery } from '../../../api/envelope.ts'
import { changeVariable, newVariable, variable } from '../../../api/variables.ts'
import type { App } from '../../app.ts'
import * as connections from '../../connections/index.ts'
import { noContent, refusals } from '../answer/answers.ts'
import { callerOf } from '../request/caller.ts'
import type { Http } from '../request/http.ts'
import { toWire } from '../../../api/wire-codec.ts'

const tags = ['connections']
const ofProject = z.object({ project_id: z.string() })
const ofVariable = ofProject.extend({ variable_id: z.string() })

export function serveVariables(http: Http, app: App): void {
  http.post(
    '/v1/projects/:project_id/variables',
    {
      schema: {
        tags,
        summary: 'Keep a variable or a secret that requests name',
        params: ofProject,
        body: newVariable,
        response: { 201: variable, ...refusals },
      },
    },
    async (request, reply) => {
      const input = { ...request.body, projectId: request.params.project_id }
      return reply.code(201).send(wire(await connections.createVariable(app, callerOf(request), input)))
    },
  )

  http.get(
    '/v1/projects/:project_id/variables',
    {
      schema: {
        tags,
        summary: 'The variables and secrets, without the values of secrets',
        params: ofProject,
        querystring: z.strictObject(pageQuery),
        response: { 200: pageOf(variable), ...refusals },
      },
    },
    async (request) => {
      const input = { projectId: request.params.project_id, ...request.query }
      const page = await connections.listVariables(app, callerOf(request), input)
      return { data: page.items.map(wire), next_cursor: page.nextCursor }
    },
  )

  http.patch(
    '/v1/projects/:project_id/variables/:variable_id',
    {
      schema: {
        tags,
        summary: 'Change what a name stands for, or where a secret may be sent',
        params: ofVariable,
        body: changeVariable,
        response: { 200: variable, ...refusals },
      },
    },
    async (request) =>
      wire(await connections.updateVariable(app, callerOf(request), { ...request.body, ...ids(request.params) })),
  )

  http.delete(
    '/v1/projects/:project_id/variables/:variable_id',
    {
      schema: {
        tags,
        summary: 'Forget a variable or secret',
        params: ofVariable,
        response: { 204: noContent, ...refusals },
      },
    },
    async (request, reply) => {
      await connections.deleteVariable(app, callerOf(request), ids(request.params))
      return reply.code(204).send()
    },
  )
}

function ids(params: { project_id: string; variable_id: string }): { projectId: string; variableId: string } {
  return { projectId: params.project_id, variableId: params.variable_id }
}

function wire(each: connections.Variable): z.output<typeof variable> {
  return toWire(variable, each)
}
