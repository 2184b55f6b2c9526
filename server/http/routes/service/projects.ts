import { environment, newEnvironment, newProject, project, changeProject } from '../../../../api/projects.ts'
import type { App } from '../../../app.ts'
import * as projects from '../../../projects/index.ts'
import type { Http } from '../../request/http.ts'
import { shortList, made, nothing, one, operations, page, pageOnly } from '../operations.ts'

const path = '/v1/projects/:project_id'
const environments = `${path}/environments`

export function serveProjects(http: Http, app: App): void {
  const { get, post, patch, del } = operations(http, app, 'projects')
  post('/v1/projects', { summary: 'Create a project', body: newProject, answer: made(project) }, projects.createProject)
  get(
    '/v1/projects',
    {
      summary: 'The projects the caller has a role in',
      query: pageOnly,
      answer: page(project),
    },
    projects.listProjects,
  )
  get(path, { summary: 'One project', answer: one(project) }, (app, caller, { projectId }) =>
    projects.findProject(app, caller, projectId),
  )
  patch(
    path,
    {
      summary: 'Rename a project, or say which web pages may read its answers',
      body: changeProject,
      answer: one(project),
    },
    projects.changeProject,
  )
  del(path, { summary: 'Delete a project and everything in it', answer: nothing }, (app, caller, { projectId }) =>
    projects.deleteProject(app, caller, projectId),
  )
}

export function serveEnvironments(http: Http, app: App): void {
  const { get, post, del } = operations(http, app, 'projects')
  get(environments, { summary: 'The environments', answer: shortList(environment) }, (app, caller, { projectId }) =>
    projects.listEnvironments(app, caller, projectId),
  )
  post(
    environments,
    { summary: 'Add an environment', body: newEnvironment, answer: made(environment) },
    projects.addEnvironment,
  )
  del(
    `${environments}/:environment`,
    { summary: 'Delete an environment and what is deployed in it', answer: nothing },
    (app, caller, { projectId, environment: name }) => projects.deleteEnvironment(app, caller, { projectId, name }),
  )
}
