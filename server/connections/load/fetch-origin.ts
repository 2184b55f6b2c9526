import type { HttpConfiguration } from '../../../api/connections.ts'
import { namedValuesFor } from '../apis/named-values.ts'
import type { RequestOrigin } from '../apis/shared-apis.ts'
import type { ConvertAhead } from '../fetch/ahead.ts'
import type { FetchedRows, FetchOptions } from '../fetch/download.ts'
import { fetchChildren, readParents, type ChildrenState, type Parents } from '../fetch/fetch-children.ts'
import { fetchRows } from '../fetch/fetch-rows.ts'
import { windowsOf } from '../fetch/windows.ts'
import { openCheckpoint, type Checkpoint } from './checkpoints.ts'
import type { IngestApp, LoadInput } from './loading.ts'
import type { LoadPlan } from './plan-load.ts'

/** Checkpoint of a load: the pages of one request, or the requests for the rows of another table. */
export type LoadCheckpoint = Pick<Checkpoint, 'rowsPath' | 'forget'> &
  ({ pages: Checkpoint | undefined } | { children: Checkpoint<ChildrenState> | undefined; parents: Parents })

/** A single request needs no checkpoint, but the rows of another table are read once. */
export async function checkpointOf(
  app: IngestApp,
  input: LoadInput,
  plan: LoadPlan,
): Promise<LoadCheckpoint | undefined> {
  const { background, from, datasourceId, projectId } = input
  if (from.kind !== 'request') return undefined
  const { pagination, forEach, configuration } = from
  const { vault } = app
  const newPath = () => app.files.temporaryPath('rows')
  const known = { datasourceId, configuration, pagination, newPath, vault }
  const joined = [plan.load, plan.base?.dataObjectId ?? null]
  const { tableName } = plan
  const parents =
    forEach === undefined
      ? windowsOf(plan.load, { lastValue: plan.lastValue, before: plan.base?.parted.load ?? null, atMs: app.now() })
      : await readParents(app, projectId, { configuration, forEach, tableName })
  if (parents === null) {
    const isLong = pagination !== undefined || configuration.steps !== undefined
    if (background === undefined || !isLong) return undefined
    const pages = await openCheckpoint(app.store, { ...known, basis: joined, job: background.job })
    return { ...pages, pages }
  }
  if (background === undefined)
    return { rowsPath: newPath(), forget: () => Promise.resolve(), children: undefined, parents }
  const basis = [joined, forEach, parents.digest]
  const children = await openCheckpoint<ChildrenState>(app.store, { ...known, basis, job: background.job })
  return { ...children, children, parents }
}

type Fetching = {
  plan: LoadPlan
  checkpoint: LoadCheckpoint | undefined
  paths: { body: string; rows: string }
  input: LoadInput
  limits: FetchOptions['limits']
  left: () => { signal: AbortSignal; timeoutMs: number }
  ahead: ConvertAhead
}

/** One request with its pages, or a request for each row of another table. */
export async function fetchFor(
  app: IngestApp,
  from: RequestOrigin,
  { input, plan, checkpoint, paths, limits, left, ahead }: Fetching,
): Promise<FetchedRows | null> {
  const { projectId, datasourceId } = input
  const options: Omit<FetchOptions, 'checkpoint' | 'validators' | 'expectedRows'> = {
    outbound: app.outbound,
    tokens: app.tokens,
    place: { projectId, datasourceId, apiId: from.hasApiAuth ? from.api?.id : undefined },
    limits,
    pace: app.paces.of(from.api),
    bodyPath: paths.body,
    rowsPath: checkpoint?.rowsPath ?? paths.rows,
    pagination: from.pagination,
    ahead,
    appendPage: (page) => app.builder.appendPage(projectId, page, left()),
    pageValues: (page) => app.builder.pageValues(projectId, page, left()),
    at: new Date(app.now()),
    lastValue: plan.lastValue,
    values: await namedValuesFor(app, projectId, from.configuration),
    onPage: input.background?.progress,
    signal: input.turn.signal,
  }
  const template = configurationOf(from, plan)
  if (checkpoint !== undefined && 'parents' in checkpoint) {
    const { parents, children } = checkpoint
    const atOnce = app.config.limits.childRequestsAtOnce
    return fetchChildren(template, {
      ...options,
      checkpoint: children,
      forEach: plan.load.windows === undefined ? (from.forEach ?? null) : null,
      parents,
      atOnce,
    })
  }
  const pages = checkpoint !== undefined && 'pages' in checkpoint ? checkpoint.pages : undefined
  const { validators, expectedRows } = plan
  return fetchRows(template, { ...options, validators, expectedRows, checkpoint: pages })
}

/** The cursor as a query parameter, where that is what its author asked for. */
function configurationOf({ configuration }: RequestOrigin, { load: { cursor } }: LoadPlan): HttpConfiguration {
  if (cursor?.parameter === undefined) return configuration
  const value = { value: '{{last_value}}', required: false }
  return { ...configuration, parameters: { ...configuration.parameters, [cursor.parameter]: value } }
}
