import type { FastifyRequest } from 'fastify'
import type { z } from 'zod'
import { changeDatasource, changeLoad, datasource, newDatasource, refreshRequest } from '../../../../api/datasources.ts'
import { job } from '../../../../api/jobs.ts'
import type { App } from '../../../app.ts'
import * as connections from '../../../connections/index.ts'
import type { Http } from '../../request/http.ts'
import { wireJob } from '../service/jobs.ts'
import { fromWire } from '../../../../api/wire-codec.ts'
import { made, nothing, one, operations, page, pageOnly } from '../operations.ts'

const datasources = '/v1/projects/:project_id/datasources'
const path = `${datasources}/:datasource_id`
const authored = { body: 'authored' } as const

export function serveDatasources(http: Http, app: App): void {
  const { get, post, patch, del } = operations(http, app, 'connections')
  post(
    datasources,
    { config: authored, summary: 'Create a datasource', body: newDatasource, answer: made(datasource) },
    (app, caller, { projectId, name, kind, tableName }, { request }) =>
      connections.createDatasource(app, caller, { ...changesOf(request), projectId, name, kind, tableName }),
  )
  get(
    datasources,
    { summary: 'The datasources', query: pageOnly, answer: page(datasource) },
    connections.listDatasources,
  )
  get(path, { summary: 'One datasource', answer: one(datasource) }, connections.findDatasource)
  patch(
    path,
    {
      config: authored,
      summary: 'Change a datasource: its request, pagination, load, schedule, retention or tags',
      body: changeDatasource,
      answer: one(datasource),
    },
    (app, caller, { projectId, datasourceId }, { request }) =>
      connections.updateDatasource(app, caller, { ...changesOf(request), projectId, datasourceId }),
  )
  del(path, { summary: 'Delete a datasource and its data', answer: nothing }, connections.deleteDatasource)
  post(
    `${path}/refresh`,
    { summary: 'Fetch its data again, as a job', body: refreshRequest, answer: made(job, wireJob) },
    connections.refreshDatasource,
  )
}

/** Its request, pages and lists are kept as they are written. */
function changesOf(request: FastifyRequest): connections.DatasourceChanges {
  const body = request.body as z.output<typeof changeDatasource>
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
