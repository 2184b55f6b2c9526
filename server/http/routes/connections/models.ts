import { job } from '../../../../api/jobs.ts'
import { refreshRequest } from '../../../../api/datasources.ts'
import { changeModel, compareModel, listModel, model, modelComparison, newModel } from '../../../../api/models.ts'
import type { App } from '../../../app.ts'
import * as models from '../../../models/index.ts'
import { untilGone } from '../../answer/gone.ts'
import type { Http } from '../../request/http.ts'
import { made, nothing, one, operations, page, pageOnly } from '../operations.ts'
import { wireJob } from '../service/jobs.ts'

const all = '/v1/projects/:project_id/models'
const path = `${all}/:model_name` as const
const authored = { body: 'authored' } as const

export function serveModels(http: Http, app: App): void {
  const { get, post, put, del } = operations(http, app, 'models')
  post(all, { config: authored, summary: 'Create a model', body: newModel, answer: made(model) }, models.createModel)
  get(all, { summary: 'The models, by name', query: pageOnly, answer: page(model) }, models.listModels)
  post(
    `${all}/from-list`,
    {
      summary: 'Make a table of the lists in a column, with the key of their rows',
      body: listModel,
      answer: made(model),
    },
    models.createListModel,
  )
  get(path, { summary: 'One model', answer: one(model) }, (app, caller, input) =>
    models.findModel(app, caller, named(input)),
  )
  put(
    path,
    { config: authored, summary: 'Change a model; its next build begins', body: changeModel, answer: one(model) },
    (app, caller, input) => models.changeModel(app, caller, named(input)),
  )
  del(path, { summary: 'Delete a model and its data', answer: nothing }, (app, caller, input) =>
    models.deleteModel(app, caller, named(input)),
  )
  post(
    `${path}/rebuild`,
    { summary: 'Build a model again, as a job', body: refreshRequest, answer: made(job, wireJob) },
    (app, caller, input) => models.rebuildModel(app, caller, named(input)),
  )
  post(
    `${path}/compare`,
    {
      config: authored,
      summary: 'Compare the rows that serve with those of other SQL, or of a full build',
      body: compareModel,
      answer: one(modelComparison),
    },
    (app, caller, input, { reply }) => models.compareModel(app, caller, { ...named(input), signal: untilGone(reply) }),
  )
}

function named<Input extends { modelName: string }>({ modelName: name, ...rest }: Input) {
  return { ...rest, name }
}
