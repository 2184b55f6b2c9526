import { isDeepStrictEqual } from 'node:util'
import { z } from 'zod'
import { definedApi, type DefinedApi } from '../../api/apis.ts'
import {
  definedAlert,
  definedConnection,
  definedEvaluation,
  definedSchema,
  definedVariable,
  type DefinedAlert,
  type DefinedConnection,
  type DefinedEvaluation,
  type DefinedSettings,
  type Definition,
} from '../../api/definition.ts'
import { defaultMinConfidence } from '../../api/questions.ts'
import { replaySettings } from '../../api/replays.ts'
import { rowTest, type RowTest } from '../../api/row-tests.ts'
import { editYaml } from './edit-yaml.ts'
import { withoutDefaults } from './fields.ts'
import { schemaFolder } from './file-schemas.ts'
import { alertFile, evaluationFile, filesIn, projectFile, type ProjectFiles } from './layout.ts'
import { writeModel, writeQuery } from './query-file.ts'
import { escapeReferences, isRecord, keepReferences } from './references.ts'
import { projectSettings } from './file-schemas.ts'
import type { ProjectSettings } from './settings.ts'
import { readYaml, schemaLine, writeYaml } from './yaml-text.ts'

/**
 * A definition as files. What is written already stays where it says the same: its comments, its order, its `${NAME}`.
 * Files that the definition has no use for are not among the answer.
 */
export function writeProject(
  definition: Definition,
  written: ProjectFiles = new Map(),
  head: ProjectSettings = {},
): ProjectFiles {
  const files: ProjectFiles = new Map()
  files.set(projectFile, writeSettings(definition, written.get(projectFile), head))
  for (const api of definition.apis ?? []) {
    const path = `apis/${api.name}.yaml`
    files.set(path, writeApi(api, written.get(path)))
  }
  for (const connection of definition.connections ?? []) {
    const path = `connections/${connection.table_name}.yaml`
    files.set(path, writeConnection(connection, written.get(path)))
  }
  for (const model of definition.models ?? []) {
    const path = `models/${model.name}.sql`
    files.set(path, writeModel(model, written.get(path)))
  }
  for (const query of definition.queries ?? []) {
    const path = `queries/${query.name}.sql`
    files.set(path, writeQuery(query, written.get(path)))
  }
  for (const test of definition.tests ?? []) {
    const path = `tests/${test.name}.yaml`
    files.set(path, writeTest(test, written.get(path)))
  }
  for (const [path, text] of writeEvaluations(definition.evaluations ?? [], written)) files.set(path, text)
  for (const [path, text] of writeAlerts(definition.alerts ?? [], written)) files.set(path, text)
  return files
}

/** The file that a new project begins with. */
export function newProjectFile(settings: ProjectSettings): string {
  const head = { definition: 1, ...settings }
  return `${schemaLine(`${schemaFolder}/project.json`)}${writeYaml(head)}`
}

function writeSettings(
  { environments, settings: defined, variables }: Definition,
  written: string | undefined,
  head: ProjectSettings,
): string {
  const named = readYaml('', written ?? '').data
  const settings =
    defined === undefined ? undefined : settingsToWrite(defined, isRecord(named) ? named['settings'] : {}, written)
  const isNamed = (field: string): boolean => isRecord(named) && field in named
  // The environments that every project begins with are worth no line in a file that somebody wrote.
  const isUsual = written !== undefined && isDeepStrictEqual(environments, usualEnvironments)
  const fresh: Pick<Definition, 'environments' | 'settings' | 'variables'> = {
    environments: isUsual && !isNamed('environments') ? undefined : environments,
    settings: Object.keys(settings ?? {}).length === 0 && !isNamed('settings') ? undefined : settings,
    variables,
  }
  const shown = escapeReferences({
    environments,
    settings,
    variables: variables?.map((each) => withoutDefaults(definedVariable, each)),
  })
  // A list of none is worth no line, unless there was one.
  if (variables?.length === 0 && !isNamed('variables')) fresh.variables = undefined
  const schema = projectSettings.pick({ environments: true, settings: true, variables: true })
  return writeMap({ schema, fresh, shown, written: written ?? newProjectFile(head) })
}

const usualEnvironments = ['development', 'staging', 'production']

const usual = {
  // How long they are kept is for each service to say.
  questions: { log: 'full', min_confidence: defaultMinConfidence },
  replay: replaySettings.parse({ recording: false }),
}

/**
 * Defaults of every project are not written, unless the file had a line for them; and a file that names some of the settings
 * goes on naming those, with what has become special about the others.
 */
function settingsToWrite(settings: DefinedSettings, named: unknown, written: string | undefined): DefinedSettings {
  const old = isRecord(named) ? named : {}
  const { allowed_origins: origins = [], questions = {}, replay = {} } = settings
  const isUsualReplay = isDeepStrictEqual({ ...usual.replay, ...replay }, usual.replay)
  return {
    ...((origins.length > 0 || 'allowed_origins' in old) && { allowed_origins: origins }),
    ...(written === undefined ? { questions } : partToWrite(questions, old)),
    ...(isRecord(old['replay'])
      ? { replay: namedOrSpecial(replay, old['replay'], usual.replay) }
      : !isUsualReplay && { replay }),
  }
}

/** A file that says nothing of questions means what is usual for them. */
function partToWrite(
  questions: NonNullable<DefinedSettings['questions']>,
  old: Record<string, unknown>,
): Pick<DefinedSettings, 'questions'> {
  const named = old['questions']
  const part = namedOrSpecial(questions, isRecord(named) ? named : {}, usual.questions)
  return isRecord(named) || Object.keys(part).length > 0 ? { questions: part } : {}
}

function namedOrSpecial<Part extends object>(part: Part, named: Record<string, unknown>, usually: object): Part {
  const isWritten = ([name, value]: [string, unknown]): boolean =>
    name in named || (name in usually && !isDeepStrictEqual(value, (usually as Record<string, unknown>)[name]))
  return Object.fromEntries(Object.entries(part).filter(isWritten)) as Part
}

const apiFile = definedApi.omit({ name: true })

function writeApi({ name: _name, ...fresh }: DefinedApi, written: string | undefined): string {
  const shown = escapeReferences(withoutDefaults(apiFile, fresh))
  return writeMap({ schema: apiFile, fresh, shown, written, schemaFile: 'api.json' })
}

const connectionFile = definedConnection.omit({ table_name: true })

function writeConnection(connection: DefinedConnection, written: string | undefined): string {
  const { table_name: table, ...fresh } = connection
  const old = readYaml('', written ?? '').data
  // A connection is called like its table unless somebody named it.
  if (fresh.name === table && !(isRecord(old) && 'name' in old)) delete fresh.name
  const shown = withoutDefaults(connectionFile, fresh)
  if (isRecord(shown['schema'])) shown['schema'] = withoutDefaults(definedSchema, shown['schema'])
  return writeMap({
    schema: connectionFile,
    fresh,
    shown: escapeReferences(shown),
    written,
    schemaFile: 'connection.json',
  })
}

const testFile = z.object(rowTest.shape).omit({ name: true })

function writeTest({ name: _name, ...fresh }: RowTest, written: string | undefined): string {
  // Its rows are data: nothing in them stands for a variable of whoever runs it.
  const shown = withoutDefaults(testFile, fresh)
  return writeMap({ schema: testFile, fresh, shown, written, schemaFile: 'test.json' })
}

function writeAlerts(alerts: DefinedAlert[], written: ProjectFiles): ProjectFiles {
  const homes = new Map(
    filesIn(written, 'alerts').flatMap(([path, text]): Array<[string, string]> => {
      const { data } = readYaml(path, text)
      return isRecord(data) && typeof data['name'] === 'string' ? [[data['name'], path]] : []
    }),
  )
  const files: ProjectFiles = new Map()
  const taken = new Set(homes.values())
  for (const alert of alerts) {
    const path = homes.get(escapeReferences(alert.name)) ?? alertFile(alert.name, taken)
    taken.add(path)
    const shown = escapeReferences(withoutDefaults(definedAlert, alert))
    files.set(
      path,
      writeMap({ schema: definedAlert, fresh: alert, shown, written: written.get(path), schemaFile: 'alert.json' }),
    )
  }
  return files
}

type Writing = {
  schema: z.ZodObject
  fresh: Record<string, unknown>
  /** As a file has it: without what goes without saying. */
  shown: Record<string, unknown>
  written: string | undefined
  /** For a new file in a folder of the project. */
  schemaFile?: string
}

function writeMap({ schema, fresh, shown, written, schemaFile }: Writing): string {
  const old = written === undefined ? undefined : readYaml('', written).data
  if (written === undefined || !isRecord(old)) {
    return (schemaFile === undefined ? '' : schemaLine(`../${schemaFolder}/${schemaFile}`)) + writeYaml(shown)
  }
  const named = keepReferences(shown, old) as Record<string, unknown>
  // With the names of the file in both, only what really differs does.
  const freshNamed = keepReferences(escapeReferences(fresh), old) as Record<string, unknown>
  const oldParsed = Object.fromEntries(
    Object.entries(schema.shape).map(([key, field]) => {
      const parsed = (field as z.ZodType).safeParse(old[key])
      return [key, parsed.success ? parsed.data : {}]
    }),
  )
  const own = (fields: Record<string, unknown>): Record<string, unknown> =>
    Object.fromEntries(Object.keys(schema.shape).map((key) => [key, fields[key]]))
  return editYaml(written, { old: own(oldParsed), fresh: own(freshNamed), shown: own(named) })
}

/** A case stays in the file that has it; a new one comes to those of its query. */
function writeEvaluations(evaluations: DefinedEvaluation[], written: ProjectFiles): ProjectFiles {
  const homes = new Map<string, string>()
  const old = new Map<string, DefinedEvaluation[]>()
  for (const [path, text] of filesIn(written, 'evaluations')) {
    const parsed = definedEvaluation.array().safeParse(readYaml(path, text).data ?? [])
    if (!parsed.success) continue
    old.set(path, parsed.data)
    for (const { question } of parsed.data) homes.set(question, path)
  }
  const placed = new Map<string, DefinedEvaluation[]>()
  for (const each of evaluations) {
    const path = homes.get(each.question) ?? evaluationFile(each)
    placed.set(path, [...(placed.get(path) ?? []), each])
  }
  return new Map(
    [...placed].map(([path, cases]) => {
      const text = written.get(path)
      const isSame = text !== undefined && isDeepStrictEqual(inOrder(old.get(path) ?? []), inOrder(cases))
      return [path, isSame ? text : writeCases(cases)]
    }),
  )
}

function inOrder(cases: DefinedEvaluation[]): DefinedEvaluation[] {
  return cases.toSorted((left, right) => (left.question < right.question ? -1 : 1))
}

function writeCases(cases: DefinedEvaluation[]): string {
  const shown = inOrder(cases).map((each) => withoutDefaults(definedEvaluation, each))
  return schemaLine(`../${schemaFolder}/evaluations.json`) + writeYaml(shown)
}
