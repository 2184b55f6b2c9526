import { isSecretName } from '../../../../../api/secret-names.ts'
import type { AuthType, Configuration, Datasource, Pagination, Tested } from '../../shared/wire.ts'
import { forEachDraftOf, type ForEachDraft } from './for-each.ts'
import { bodyText, fieldsOf, isFields, linesOf, newId, textOf } from './lines.ts'
import { emptyLoad, loadDraftOf, type LoadDraft } from './load.ts'
import { stepDraftsOf, stepsOf, type StepDraft } from './steps.ts'

export type Pair = { id: number; name: string; value: string; required: boolean; secret: boolean }
export type ParameterGroup = { id: number; name: string; active: boolean; parameters: Pair[] }

/** A connection as it stands in the form: every field a text, every table a list of lines. */
export type Draft = {
  name: string
  method: string
  /** The API of the project that the address is a path of. */
  api?: string | undefined
  url: string
  parameters: Pair[]
  groups: ParameterGroup[]
  headers: Pair[]
  authType: AuthType
  auth: Record<string, string>
  bodyType: string
  body: string
  extractor: string
  /** JSON:API: rows are joined with what the answer includes. */
  included: boolean
  /** Whose variables the request means before those of the project. */
  environment?: string | undefined
  pagination: Pagination | null
  /** Requests behind this one: an export that is waited for. */
  steps: StepDraft[]
  forEach: ForEachDraft | null
  load: LoadDraft
  /** Types that the API tells of its columns, for the schema of the table. */
  columns: NonNullable<NonNullable<Tested['detected']>['columns']>
  schedule: string
  timeZone: string
  keepVersions: number
}

export function newPair(name = '', value = '', marks: { required?: boolean; secret?: boolean } = {}): Pair {
  return { id: newId(), name, value, required: marks.required ?? false, secret: marks.secret ?? false }
}

export const emptyDraft: Draft = {
  name: '',
  method: 'GET',
  url: '',
  parameters: [],
  groups: [],
  headers: [],
  authType: 'None',
  auth: {},
  bodyType: 'json',
  body: '',
  extractor: '',
  included: false,
  pagination: null,
  steps: [],
  forEach: null,
  load: emptyLoad,
  columns: [],
  schedule: '',
  timeZone: 'UTC',
  keepVersions: 10,
}

export function draftOf(source: Datasource): Draft {
  return {
    ...emptyDraft,
    ...(source.config !== null && readConfiguration(source.config as Configuration)),
    name: source.name,
    // Written from the same schema that reads it.
    pagination: source.pagination as Pagination | null,
    forEach: forEachDraftOf(source),
    load: loadDraftOf(source.load),
    schedule: source.schedule ?? '',
    timeZone: source.schedule_time_zone,
    keepVersions: source.keep_versions,
  }
}

/** The part of an unsaved edit that stays in the browser: everything but what is typed to be secret. */
export function keepable(draft: Draft): Draft {
  const open = (pairs: Pair[]): Pair[] => pairs.map((pair) => (isSecret(pair) ? { ...pair, value: '' } : pair))
  return {
    ...draft,
    auth: {},
    headers: open(draft.headers),
    parameters: open(draft.parameters),
    groups: draft.groups.map((group) => ({ ...group, parameters: open(group.parameters) })),
  }
}

/** Names the API hides as well: by the name, or because the author says so. */
function isSecret({ name, secret }: Pair): boolean {
  return secret || isSecretName(name)
}

/** A kept edit: its lines are numbered anew, so that none is mistaken for another, and its secrets are the stored ones. */
export function takenUp(edited: Draft, stored: Draft): Draft {
  const anew = (pairs: Pair[], before: Pair[]): Pair[] =>
    pairs.map((pair) => {
      const known = before.find(({ name }) => name === pair.name)?.value ?? ''
      return newPair(pair.name, isSecret(pair) ? known : pair.value, pair)
    })
  return {
    ...edited,
    // An edit cached by an earlier version of the app has none of them.
    forEach: edited.forEach ?? null,
    included: edited.included ?? false,
    steps: (edited.steps ?? []).map((step) => ({ ...step, id: newId() })),
    load: { ...emptyLoad, ...edited.load },
    columns: edited.columns ?? [],
    auth: edited.authType === stored.authType ? stored.auth : {},
    headers: anew(edited.headers, stored.headers),
    parameters: anew(edited.parameters, stored.parameters),
    groups: edited.groups.map((group) => {
      const before = stored.groups.find(({ name }) => name === group.name)?.parameters ?? []
      return { ...group, id: newId(), parameters: anew(group.parameters, before) }
    }),
  }
}

/** A draft as text that is equal for equal drafts: the numbers of lines say nothing. */
export function textOfDraft(draft: Draft): string {
  return JSON.stringify(draft, (name, value: unknown) => (name === 'id' ? undefined : value))
}

/** The part of a draft that a configuration holds, for one that is stored or imported. */
export function readConfiguration(config: Configuration): Partial<Draft> {
  const body = config.body
  return {
    api: config.api,
    url: config.url,
    method: config.method,
    parameters: pairsOf(config.parameters ?? {}),
    groups: (config.parameterGroups ?? []).map((group) => ({
      id: newId(),
      name: group.name,
      active: group.active ?? false,
      parameters: pairsOf(group.parameters),
    })),
    headers: Object.entries(config.headers ?? {}).map(([name, header]) =>
      typeof header === 'string' ? newPair(name, header) : newPair(name, header.value, marksOf(header)),
    ),
    authType: (config.authType ?? 'None') as AuthType,
    auth: Object.fromEntries(
      Object.entries(config.auth ?? {}).map(([name, value]) => [
        name,
        isFields(value) && !Object.values(value).some(isFields) ? linesOf(value) : textOf(value),
      ]),
    ),
    ...(body !== undefined && {
      bodyType: typeof body['type'] === 'string' ? body['type'] : 'json',
      body: bodyText(body),
    }),
    extractor: config.responsePathExtractor ?? '',
    included: config.included ?? false,
    steps: stepDraftsOf(config.steps),
    environment: config.environment,
  }
}

/** The pairs as the API takes them. Lines without a name are not there yet. */
export function configurationOf(draft: Draft): Configuration {
  const groups = draft.groups.filter(({ name }) => name.trim() !== '')
  const headers = named(draft.headers)
  return {
    ...(draft.api !== undefined && { api: draft.api }),
    url: draft.url.trim(),
    method: draft.method,
    ...(headers.length > 0 && { headers: headersOf(headers) }),
    ...(named(draft.parameters).length > 0 && { parameters: parametersOf(draft.parameters) }),
    ...(groups.length > 0 && {
      parameterGroups: groups.map(({ name, active, parameters }) => ({
        name,
        active,
        parameters: parametersOf(parameters),
      })),
    }),
    ...(draft.authType !== 'None' && {
      authType: draft.authType,
      auth: Object.fromEntries(
        Object.entries(draft.auth)
          .filter(([, value]) => value !== '')
          .map(([name, value]) => [name, authValue(name, value)]),
      ),
    }),
    ...(draft.environment !== undefined && { environment: draft.environment }),
    ...(draft.extractor.trim() !== '' && { responsePathExtractor: draft.extractor.trim() }),
    ...(bodyOf(draft) !== undefined && { body: bodyOf(draft) }),
    ...(draft.included && { included: true }),
    ...(draft.steps.length > 0 && { steps: stepsOf(draft.steps) }),
  }
}

/** Further parameters and the credentials of a login are lines; the latter may be JSON, too. */
function authValue(name: string, value: string): unknown {
  if (name === 'parameters') return fieldsOf(value, '\n')
  return name === 'body' ? (objectIn(value) ?? fieldsOf(value, '\n')) : value
}

/** The body to send; undefined where there is none, or the method takes none. */
export function bodyOf(draft: Draft): Configuration['body'] {
  if (draft.body.trim() === '' || !methodsWithBody.has(draft.method)) return undefined
  return { type: draft.bodyType, content: contentOf(draft) }
}

export const methodsWithBody = new Set(['POST', 'PUT', 'PATCH', 'DELETE'])

function contentOf({ bodyType, body }: Draft): unknown {
  if (bodyType === 'form' || bodyType === 'multipart') return fieldsOf(body)
  // The text of a query, or an object of query and variables.
  return bodyType === 'graphql' ? (objectIn(body) ?? body) : body
}

function objectIn(text: string): unknown {
  try {
    return JSON.parse(text) as unknown
  } catch {
    return null
  }
}

function pairsOf(parameters: NonNullable<Configuration['parameters']>): Pair[] {
  return Object.entries(parameters).map(([name, { value, ...marks }]) =>
    newPair(name, Array.isArray(value) ? value.map(textOf).join(', ') : textOf(value), marksOf(marks)),
  )
}

function marksOf({
  required = false,
  secret = false,
}: {
  required?: boolean | undefined
  secret?: boolean | undefined
}) {
  return { required, secret }
}

function headersOf(pairs: Pair[]): NonNullable<Configuration['headers']> {
  return Object.fromEntries(pairs.map(({ name, value, secret }) => [name, secret ? { value, secret } : value] as const))
}

function parametersOf(pairs: Pair[]): NonNullable<Configuration['parameters']> {
  return Object.fromEntries(
    named(pairs).map(({ name, value, required, secret }) => [
      name,
      { ...(value !== '' && { value }), required, ...(secret && { secret }) },
    ]),
  )
}

function named(pairs: Pair[]): Pair[] {
  return pairs.filter(({ name }) => name.trim() !== '')
}
