import type { z } from 'zod'
import { definedApi, type DefinedApi } from '../../api/apis.ts'
import {
  definedAlert,
  definedConnection,
  definedEvaluation,
  type DefinedAlert,
  type DefinedConnection,
  type DefinedEvaluation,
  type DefinedQuery,
  type Definition,
} from '../../api/definition.ts'
import { rowTest, type RowTest } from '../../api/row-tests.ts'
import { filesIn, projectFile, stemOf, type ProjectFiles } from './layout.ts'
import { literalSecrets } from './literal-secrets.ts'
import type { Path, Problem } from './problem.ts'
import { readModel, readQuery } from './query-file.ts'
import { isRecord, resolveReferences } from './references.ts'
import { projectSettings } from './file-schemas.ts'
import type { ProjectSettings } from './settings.ts'
import { issuesOf, readYaml, type YamlText } from './yaml-text.ts'

export type ReadProject = { definition: Definition; settings: ProjectSettings }
type Environment = Readonly<Record<string, string | undefined>>

/** The definition that files describe, or everything that is wrong with them. */
export function readProject(files: ProjectFiles, environment: Environment): ReadProject | { problems: Problem[] } {
  const problems: Problem[] = []
  const top = readSettings(files, environment, problems)
  const apis = filesIn(files, 'apis').flatMap(([file, text]) => take(readApi(file, text, environment), problems))
  const connections = filesIn(files, 'connections').flatMap(([file, text]) =>
    take(readConnection(file, text, environment), problems),
  )
  const models = filesIn(files, 'models').flatMap(([file, text]) => {
    const read = readModel(file, stemOf(file), text)
    return take({ file, problems: read.problems, ...(read.model !== undefined && { value: read.model }) }, problems)
  })
  const queries = filesIn(files, 'queries').flatMap(([file, text]) => readQueryFile(file, text, problems))
  const tests = filesIn(files, 'tests').flatMap(([file, text]) => take(readTest(file, text), problems))
  const evaluations = filesIn(files, 'evaluations').flatMap(([file, text]) => readEvaluations(file, text, problems))
  const alerts = filesIn(files, 'alerts').flatMap(([file, text]) => take(readAlert(file, text, environment), problems))
  problems.push(...twins(alerts, ({ name }) => name, 'an alert'))
  problems.push(...twins(evaluations, ({ question }) => question, 'a question'))
  if (problems.length > 0 || top === undefined) return { problems }
  const { definition, environments, settings: defined, variables, ...settings } = top
  // Settings that the file does not name are left alone; everything else is replaced by the files.
  const plain = <Value>(all: Array<{ value: Value }>): Value[] => all.map(({ value }) => value)
  return {
    settings,
    definition: {
      definition,
      ...(environments !== undefined && { environments }),
      ...(defined !== undefined && { settings: defined }),
      ...(variables !== undefined && { variables }),
      apis: plain(apis),
      connections: plain(connections),
      models: plain(models),
      queries,
      tests: plain(tests),
      evaluations: plain(evaluations),
      alerts: plain(alerts),
    },
  }
}

type Read<Value> = { value?: Value; file: string; problems: Problem[] }

function take<Value>(read: Read<Value>, problems: Problem[]): Array<{ file: string; value: Value }> {
  problems.push(...read.problems)
  return read.value === undefined ? [] : [{ file: read.file, value: read.value }]
}

function readSettings(
  files: ProjectFiles,
  environment: Environment,
  problems: Problem[],
): z.output<typeof projectSettings> | undefined {
  const text = files.get(projectFile)
  if (text === undefined) {
    const message = 'is not there: run `sluice init`, or change to the folder of a project'
    problems.push({ file: projectFile, line: null, column: null, message })
    return undefined
  }
  const yaml = readYaml(projectFile, text)
  const { token, ...rest } = isRecord(yaml.data) ? yaml.data : {}
  // The token is read when it is used: files can be looked at without it.
  const read = parse(yaml, projectSettings, { environment, data: rest, literals: [] })
  problems.push(...read.problems)
  const parsedToken = projectSettings.shape.token.safeParse(token)
  if (!parsedToken.success) {
    problems.push(...issuesOf(parsedToken.error).map(({ message }) => yaml.problemAt(['token'], `token: ${message}`)))
  }
  for (const [at, variable] of (read.value?.variables ?? []).entries()) {
    const written = (rest['variables'] as Array<{ value?: unknown }>)[at]?.value
    if (variable.secret && isLiteral(written)) {
      problems.push(yaml.problemAt(['variables', at, 'value'], secretMessage))
    }
  }
  return read.value === undefined
    ? undefined
    : { ...read.value, ...(parsedToken.data !== undefined && { token: parsedToken.data }) }
}

const secretMessage = 'a secret is never written into a file: write ${NAME} and set NAME in the environment'

/** Neither a name of the environment nor one of a secret that the project keeps. */
function isLiteral(written: unknown): boolean {
  if (typeof written !== 'string' || written === '***') return false
  return !/\$\{|\{\{\s*secret:[a-z]/.test(written.replaceAll('$${', ''))
}

function readConnection(file: string, text: string, environment: Environment): Read<DefinedConnection> {
  return readNamed(file, text, environment, { schema: definedConnection, field: 'table_name', what: 'table' })
}

function readApi(file: string, text: string, environment: Environment): Read<DefinedApi> {
  return readNamed(file, text, environment, { schema: definedApi, field: 'name', what: 'API' })
}

type Named<Value> = { schema: z.ZodType<Value>; field: string; what: string }

/** A file whose name is that of the thing in it. */
function readNamed<Value>(
  file: string,
  text: string,
  environment: Environment,
  { schema, field, what }: Named<Value>,
): Read<Value> {
  const yaml = readYaml(file, text)
  const named = isRecord(yaml.data) ? { ...yaml.data, [field]: stemOf(file) } : yaml.data
  if (isRecord(yaml.data) && field in yaml.data) {
    const message = `${field} is no field here: the file is called like the ${what}`
    return { file, problems: [yaml.problemAt([field], message)] }
  }
  const literals = isRecord(yaml.data) ? literalSecrets(yaml.data['config'], isLiteral) : []
  return parse(yaml, schema, { environment, data: named, literals: literals.map((path) => ['config', ...path]) })
}

function readAlert(file: string, text: string, environment: Environment): Read<DefinedAlert> {
  const yaml = readYaml(file, text)
  const channels: unknown[] = isRecord(yaml.data) && Array.isArray(yaml.data['channels']) ? yaml.data['channels'] : []
  const literals = channels.flatMap((channel, at): Path[] =>
    isRecord(channel) && isLiteral(channel['secret']) ? [['channels', at, 'secret']] : [],
  )
  return parse(yaml, definedAlert, { environment, data: yaml.data, literals })
}

function readTest(file: string, text: string): Read<RowTest> {
  const yaml = readYaml(file, text)
  const data = isRecord(yaml.data) ? { ...yaml.data, name: stemOf(file) } : yaml.data
  return parse(yaml, rowTest, { data, literals: [] })
}

function readQueryFile(file: string, text: string, problems: Problem[]): DefinedQuery[] {
  const read = readQuery(file, stemOf(file), text)
  problems.push(...read.problems)
  return read.query === undefined ? [] : [read.query]
}

function readEvaluations(
  file: string,
  text: string,
  problems: Problem[],
): Array<{ file: string; value: DefinedEvaluation }> {
  const yaml = readYaml(file, text)
  // An empty file, or one of comments, is a list of none.
  const read = parse(yaml, definedEvaluation.array(), { data: yaml.data ?? [], literals: [] })
  problems.push(...read.problems)
  return (read.value ?? []).map((value) => ({ file, value }))
}

/** Without an environment `${` means itself. */
function parse<Value>(
  yaml: YamlText,
  schema: z.ZodType<Value>,
  { environment, data, literals }: { environment?: Environment; data: unknown; literals: Path[] },
): Read<Value> {
  const { file, problemAt } = yaml
  if (yaml.problems.length > 0) return { file, problems: yaml.problems }
  const { value, unresolved } =
    environment === undefined ? { value: data, unresolved: [] } : resolveReferences(data, environment)
  const problems = [
    ...unresolved.map((each) => problemAt(each.path, unresolvedMessage(each.name))),
    ...literals.map((path) => problemAt(path, secretMessage)),
  ]
  if (problems.length > 0) return { file, problems }
  const parsed = schema.safeParse(value)
  if (parsed.success) return { file, value: parsed.data, problems: [] }
  return { file, problems: issuesOf(parsed.error).map(({ path, message }) => problemAt(path, message)) }
}

function unresolvedMessage(name: string): string {
  if (!/^[A-Za-z_][A-Za-z0-9_]*$/.test(name))
    return `\${${name}} is no name of a variable; write $\${ for a \${ that means itself`
  return `${name} is not set in the environment`
}

function twins<Value>(
  all: Array<{ file: string; value: Value }>,
  nameOf: (value: Value) => string,
  what: string,
): Problem[] {
  const seen = new Map<string, string>()
  return all.flatMap(({ file, value }): Problem[] => {
    const name = nameOf(value)
    const before = seen.get(name)
    seen.set(name, file)
    return before === undefined
      ? []
      : [{ file, line: null, column: null, message: `has ${what} that ${before} has too: ${name}` }]
  })
}
