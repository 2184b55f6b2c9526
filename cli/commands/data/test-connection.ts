import { Command } from 'commander'
import type { TestConnectionAnswer } from '../../../api/connections.ts'
import { does } from '../../context/command.ts'
import type { Context } from '../../context/context.ts'
import { readDefinition } from '../../context/files.ts'
import { withFileVariables } from '../../project/index.ts'
import { CommandFailure } from '../../terminal/exit.ts'
import { rowsText } from '../call/rows-text.ts'
import { bytesText } from '../../terminal/texts.ts'

export function testConnectionCommand(): Command {
  const command = new Command('test-connection')
    .description(
      'Sends the request of connections/<table>.yaml and shows what comes back. Variables and secrets are those of sluice.yaml, released or not.',
    )
    .argument('<table>', 'the name of a file in connections/')
  return does(command, testConnection)
}

async function testConnection(context: Context, _options: object, [name = '']: string[]): Promise<void> {
  const config = await configOf(context, name)
  const manage = await context.manage()
  const projectId = await context.projectId()
  const stored = await manage.list<{ id: string; table_name: string }>(`/v1/projects/${projectId}/datasources`)
  const known = stored.find((each) => each.table_name === name)
  // With these, *** and {{secret:name}} stand for what the service keeps.
  const where = { project_id: projectId, ...(known !== undefined && { datasource_id: known.id }) }
  const progress = context.progress()
  progress.show(null, `asking ${name}`)
  const answer = await manage
    .send<TestConnectionAnswer>('POST', '/v1/http/test-connection', { ...config, ...where, detect: true })
    .finally(() => progress.end())
  if (context.json) context.printJson(answer)
  else if (answer.success && answer.problem === undefined) report(context, answer)
  if (answer.success && answer.problem === undefined) return
  const why = answer.problem?.message ?? answer.error?.message ?? `It answered with ${answer.status}.`
  throw new CommandFailure('negative', `${name} does not work: ${why}`, { fields: answer })
}

/** The request of a file, with the values of the environment in it. */
async function configOf(context: Context, name: string): Promise<object> {
  const { definition } = await readDefinition(context)
  const { connections = [], apis = [], variables = [] } = definition
  const connection = connections.find((each) => each.table_name === name)
  if (connection === undefined) {
    const known = connections.map((each) => each.table_name)
    const hint = known.length === 0 ? 'connections/ is empty.' : `There are: ${known.join(', ')}.`
    throw new CommandFailure('usage', `There is no connections/${name}.yaml.`, { hint })
  }
  if (connection.config === null) throw new CommandFailure('files', `connections/${name}.yaml has no config.`)
  // Before it is released the service does not know it.
  const api = apis.find((each) => each.name === connection.config?.api)
  const config = { ...connection.config, ...(api !== undefined && { api_config: api.config }) }
  return withFileVariables(config, variables)
}

function report(context: Context, answer: TestConnectionAnswer): void {
  const { print, style } = context
  const facts = [answer.content_type, bytesText(answer.size), `${answer.response_time} ms`].filter(
    (each) => each !== '',
  )
  print(`${style.good('✓')} ${answer.status}  ${style.dim(facts.join(', '))}\n`)
  const rows = Array.isArray(answer.data) ? answer.data.filter(isRow) : []
  if (rows.length > 0) print(rowsText({ data: rows.slice(0, 10), row_count: rows.length }, context))
  else print(JSON.stringify(answer.data, null, 2).slice(0, 2_000))
  const found = answer.detected?.rows
  if (found !== undefined && found !== null && found.path !== '') {
    print(style.dim(`\n${found.count} rows seem to be at ${found.path}: responsePathExtractor: ${found.path}`))
  }
  const pages = answer.detected?.pagination
  if (pages !== undefined && pages !== null) print(style.dim(`It seems to go on: pagination: ${JSON.stringify(pages)}`))
  const { body, primary_key: key } = answer.detected ?? {}
  if (body !== undefined) print(style.dim(`with a query that asks for its pages: body: ${JSON.stringify(body)}`))
  if (key !== undefined) print(style.dim(`Rows are told by their key: primary_key: ${JSON.stringify(key)}`))
}

function isRow(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
