import { z } from 'zod'
import { pageOf, pageQuery } from '../../../api/envelope.ts'
import { environment, newEnvironment, newProject, project, changeProject } from '../../../api/projects.ts'
import type { App } from '../../app.ts'
import * as projects from '../../projects/index.ts'
import { noContent, refusals } from '../answer/answers.ts'
import { callerOf } from '../request/caller.ts'
import type { Http } from '../request/http.ts'
import { toWire } from '../../../api/wire-codec.ts'

const tags = ['projects']
const ofProject = z.object({ project_id: z.string() })
const ofEnvironment = ofProject.extend({ environment: z.string() })

export function serveProjects(http: Http, app: App): void {
  http.post(
    '/v1/projects',
    { schema: { tags, summary: 'Create a project', body: newProject, response: { 201: project, ...refusals } } },
    async (request, reply) =>
      reply.code(201).send(wireProject(await projects.createProject(app, callerOf(request), request.body))),
  )

  http.get(
    '/v1/projects',
    {
      schema: {
        tags,
        summary: 'The projects the caller has a role in',
        querystring: z.strictObject(pageQuery),
        response: { 200: pageOf(project), ...refusals },
      },
    },
    async (request) => {
      const page = await projects.listProjects(app, callerOf(request), request.query)
      return { data: page.items.map(wireProject), next_cursor: page.nextCursor }
    },
  )

  http.get(
    '/v1/projects/:project_id',
    { schema: { tags, summary: 'One project', params: ofProject, response: { 200: project, ...refusals } } },
    async (request) => wireProject(await projects.findProject(app, callerOf(request), request.params.project_id)),
  )

  http.patch(
    '/v1/projects/:project_id',
    {
      schema: {
        tags,
        summary: 'Rename a project, or say which web pages may read its answers',
        params: ofProject,
        body: changeProject,
        response: { 200: project, ...refusals },
      },
    },
    async (request) => {
      const { name, allowed_origins: allowedOrigins } = request.body
      const input = { projectId: request.params.project_id, name, allowedOrigins }
      return wireProject(await projects.changeProject(app, callerOf(request), input))
    },
  )

  http.delete(
    '/v1/projects/:project_id',
    {
      schema: {
        tags,
        summary: 'Delete a project and everything in it',
        params: ofProject,
        response: { 204: noContent, ...refusals },
      },
    },
    async (request, reply) => {
      await projects.deleteProject(app, callerOf(request), request.params.project_id)
      return reply.code(204).send()
    },
  )
}

export function serveEnvironments(http: Http, app: App): void {
  const list = z.object({ data: z.array(environment), next_cursor: z.null() })

  http.get(
    '/v1/projects/:project_id/environments',
    { schema: { tags, summary: 'The environments', params: ofProject, response: { 200: list, ...refusals } } },
    async (request) => {
      const found = await projects.listEnvironments(app, callerOf(request), request.params.project_id)
      return { data: found.map(wireEnvironment), next_cursor: null }
    },
  )

  http.post(
    '/v1/projects/:project_id/environments',
    {
      schema: {
        tags,
        summary: 'Add an environment',
        params: ofProject,
        body: newEnvironment,
        response: { 201: environment, ...refusals },
      },
    },
    async (request, reply) => {
      const input = { projectId: request.params.project_id, name: request.body.name }
      return reply.code(201).send(wireEnvironment(await projects.addEnvironment(app, callerOf(request), input)))
    },
  )

  http.delete(
    '/v1/projects/:project_id/environments/:environment',
    {
      schema: {
        tags,
        summary: 'Delete an environment and what is deployed in it',
        params: ofEnvironment,
        response: { 204: noContent, ...refusals },
      },
    },
    async (request, reply) => {
      const input = { projectId: request.params.project_id, name: request.params.environment }
      await projects.deleteEnvironment(app, callerOf(request), input)
      return reply.code(204).send()
    },
  )
}

function wireProject(found: projects.Project): z.output<typeof project> {
  return toWire(project, found)
}

function wireEnvironment(found: projects.Environment): z.output<typeof environment> {
  return toWire(environment, found)
}
