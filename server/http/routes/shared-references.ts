import { z } from 'zod'
import { createdSharedReference, readSharedReference, sharedReference } from '../../../api/projects.ts'
import * as access from '../../access/index.ts'
import type { App } from '../../app.ts'
import { describeProject } from '../../queries/index.ts'
import { noContent, refusals } from '../answer/answers.ts'
import { callerOf } from '../request/caller.ts'
import { pageLink, type Http } from '../request/http.ts'
import { toWire } from '../../../api/wire-codec.ts'
import { projectDocument } from './queries/project-document.ts'

const tags = ['projects']
const ofProject = z.object({ project_id: z.string() })
const ofEnvironment = ofProject.extend({ environment: z.string() })

/** The reference of an environment by link, for people without an account or a key, where an owner says so. */
// Over 70 lines: a list of routes.
export function serveSharedReferences(http: Http, app: App): void {
  const list = z.object({ data: z.array(sharedReference), next_cursor: z.null() })

  http.get(
    '/v1/projects/:project_id/shared-references',
    {
      schema: {
        tags,
        summary: 'The environments whose reference is shared by a link',
        params: ofProject,
        response: { 200: list, ...refusals },
      },
    },
    async (request) => {
      const found = await access.listSharedReferences(app, callerOf(request), request.params.project_id)
      return { data: found.map((each) => toWire(sharedReference, each)), next_cursor: null }
    },
  )

  http.put(
    '/v1/projects/:project_id/shared-references/:environment',
    {
      schema: {
        tags,
        summary: 'Share the reference of an environment by a link',
        description:
          'Whoever has the link reads what is deployed there: names, descriptions, slots, columns and examples, no rows. A link from before ends. It is in this answer and never again.',
        params: ofEnvironment,
        response: { 200: createdSharedReference, ...refusals },
      },
    },
    async (request) => {
      const { project_id: projectId, environment } = request.params
      const made = await access.shareReference(app, callerOf(request), { projectId, environment })
      const path = `/reference/${projectId}?environment=${encodeURIComponent(environment)}#${made.secret}`
      return { ...toWire(sharedReference, made), link: pageLink(app, request, path) }
    },
  )

  http.delete(
    '/v1/projects/:project_id/shared-references/:environment',
    {
      schema: {
        tags,
        summary: 'End the link to the reference of an environment',
        params: ofEnvironment,
        response: { 204: noContent, ...refusals },
      },
    },
    async (request, reply) => {
      const { project_id: projectId, environment } = request.params
      await access.unshareReference(app, callerOf(request), { projectId, environment })
      return reply.code(204).send()
    },
  )

  http.post(
    '/v1/shared-references/read',
    {
      config: { door: 'open' },
      schema: {
        tags,
        summary: 'What a link to a reference shows, as an OpenAPI document',
        security: [],
        body: readSharedReference,
        response: { 200: projectDocument, ...refusals },
      },
    },
    async (request) => {
      const place = await access.findSharedReference(app, { secret: request.body.token, address: request.ip })
      const serverUrl = pageLink(app, request, '/').replace(/\/$/, '')
      const described = await describeProject(app, access.systemCaller, { ...place, serverUrl })
      return described as z.output<typeof projectDocument>
    },
  )
}
