import { createdSharedReference, readSharedReference, sharedReference } from '../../../../api/projects.ts'
import * as access from '../../../access/index.ts'
import type { App } from '../../../app.ts'
import { describeProject } from '../../../queries/index.ts'
import { pageLink, type Http } from '../../request/http.ts'
import { shortList, nothing, one, openOperations, operations, sent } from '../operations.ts'
import { projectDocument, sendDocument } from '../queries/project-document.ts'

const references = '/v1/projects/:project_id/shared-references'

/** The reference of an environment by link, for people without an account or a key, where an owner says so. */
export function serveSharedReferences(http: Http, app: App): void {
  const { get, put, del } = operations(http, app, 'projects')
  get(
    references,
    {
      summary: 'The environments whose reference is shared by a link',
      answer: shortList(sharedReference),
    },
    (app, caller, { projectId }) => access.listSharedReferences(app, caller, projectId),
  )
  put(
    `${references}/:environment`,
    {
      summary: 'Share the reference of an environment by a link',
      description:
        'Whoever has the link reads what is deployed there: names, descriptions, slots, columns and examples, no rows. A link from before ends. It is in this answer and never again.',
      answer: one(createdSharedReference),
    },
    async (app, caller, input, { request }) => {
      const shared = await access.shareReference(app, caller, input)
      const path = `/reference/${input.projectId}?environment=${encodeURIComponent(input.environment)}#${shared.secret}`
      return { ...shared, link: pageLink(app, request, path) }
    },
  )
  del(
    `${references}/:environment`,
    { summary: 'End the link to the reference of an environment', answer: nothing },
    access.unshareReference,
  )
  serveReading(http, app)
}

/** For whoever has the link. */
function serveReading(http: Http, app: App): void {
  openOperations(http, app, 'projects').post(
    '/v1/shared-references/read',
    {
      summary: 'What a link to a reference shows, as an OpenAPI document',
      body: readSharedReference,
      answer: sent(projectDocument),
    },
    async (app, _caller, { token: secret }, { request, reply }) => {
      const place = await access.findSharedReference(app, { secret, address: request.ip })
      const serverUrl = pageLink(app, request, '/').replace(/\/$/, '')
      return sendDocument(reply, await describeProject(app, access.systemCaller, { ...place, serverUrl }))
    },
  )
}
