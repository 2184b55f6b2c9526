import { z } from 'zod'
import { changeDatasource, changeLoad, datasource, newDatasource, refreshRequest } from '../../../api/datasources.ts'
import { pageOf, pageQuery } from '../../../api/envelope.ts'
import { job } from '../../../api/jobs.ts'
import type { App } from '../../app.ts'
import * as connections from '../../connections/index.ts'
import { noContent, refusals } from '../answer/answers.ts'
import { callerOf } from '../request/caller.ts'
import type { Http } from '../request/http.ts'
import { wireJob } from './jobs.ts'
import { fromWire, toWire } from '../../../api/wire-codec.ts'

const tags = ['connections']
const ofProject = z.object({ project_id: z.string() })
const ofDatasource = ofProject.extend({ datasource_id: z.string() })

// Over 70 lines: a list of routes.
export function serveDatasources(http: Http, app: App): void {
  http.post(
    '/v1/projects/:project_id/datasources',
    {
      schema: {
        tags,
        summary: 'Create a datasource',
        params: ofProject,
        body: newDatasource,
        response: { 201: datasource, ...refusals },
      },
    },
    async (request, reply) => {
      const { table_name: tableName, name, kind } = request.body
      const input = { ...changesOf(request.body), projectId: request.params.project_id, name, kind, tableName }
      return reply.code(201).send(wireDatasource(await connections.createDatasource(app, callerOf(request), input)))
    },
  )

  http.get(
    '/v1/projects/:project_id/datasources',
    {
      schema: {
        tags,
        summary: 'The datasources',
        params: ofProject,
        querystring: z.strictObject(pageQuery),
        response: { 200: pageOf(datasource), ...refusals },
      },
    },
    async (request) => {
      const input = { projectId: request.params.project_id, ...request.query }
      const page = await connections.listDatasources(app, callerOf(request), input)
      return { data: page.items.map(wireDatasource), next_cursor: page.nextCursor }
    },
  )

  http.get(
    '/v1/projects/:project_id/datasources/:datasource_id',
    {
      schema: { tags, summary: 'One datasource', params: ofDatasource, response: { 200: datasource, ...refusals } },
    },
    async (request) => wireDatasource(await connections.findDatasource(app, callerOf(request), ids(request.params))),
  )

  http.patch(
    '/v1/projects/:project_id/datasources/:datasource_id',
    {
      schema: {
        tags,
        summary: 'Change a datasource: its request, pagination, load, schedule, retention or tags',
        params: ofDatasource,
        body: changeDatasource,
        response: { 200: datasource, ...refusals },
      },
    },
    async (request) => {
      const input = { ...changesOf(request.body), ...ids(request.params) }
      return wireDatasource(await connections.updateDatasource(app, callerOf(request), input))
    },
  )

  http.delete(
    '/v1/projects/:project_id/datasources/:datasource_id',
    {
      schema: {
        tags,
        summary: 'Delete a datasource and its data',
        params: ofDatasource,
        response: { 204: noContent, ...refusals },
      },
    },
    async (request, reply) => {
      await connections.deleteDatasource(app, callerOf(request), ids(request.params))
      return reply.code(204).send()
    },
  )

  http.post(
    '/v1/projects/:project_id/datasources/:datasource_id/refresh',
    {
      schema: {
        tags,
        summary: 'Fetch its data again, as a job',
        params: ofDatasource,
        body: refreshRequest,
        response: { 201: job, ...refusals },
      },
    },
    async (request, reply) => {
      const input = { ...ids(request.params), full: request.body?.full === true }
      return reply.code(201).send(wireJob(await connections.refreshDatasource(app, callerOf(request), input)))
    },
  )
}

function ids(params: { project_id: string; datasource_id: string }): { projectId: string; datasourceId: string } {
  return { projectId: params.project_id, datasourceId: params.datasource_id }
}

function changesOf(body: z.output<typeof changeDatasource>): connections.DatasourceChanges {
  return {
    name: body.name,
    config: body.config,
    pagination: body.pagination,
    forEach: body.for_each,
    load: body.load === undefined ? undefined : fromWire(changeLoad, body.load),
    schedule: body.schedule,
    scheduleTimeZone: body.schedule_time_zone,
    keepVersions: body.keep_versions,
    tags: body.tags,
  }
}

function wireDatasource(source: connections.Datasource): z.output<typeof datasource> {
  return toWire(datasource, source)
}
