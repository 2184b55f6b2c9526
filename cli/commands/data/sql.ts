import { Command } from 'commander'
import { text as textOf } from 'node:stream/consumers'
import type { z } from 'zod'
import type { previewAnswer } from '../../../api/queries.ts'
import { does } from '../../context/command.ts'
import type { Context } from '../../context/context.ts'
import { readDefinition, readFiles } from '../../context/files.ts'
import { messageInFile } from '../../project/index.ts'
import { CommandFailure } from '../../terminal/exit.ts'
import { rowsText } from '../call/rows-text.ts'
import { typedValues, valuesOf } from '../call/values.ts'

type Options = { rows?: string }
type Answer = z.output<typeof previewAnswer>

export function sqlCommand(): Command {
  const command = new Command('sql')
    .description('Runs one SELECT, read only, and shows its rows. Deploys nothing; `-` reads it from standard input.')
    .argument('<statement>', 'the SQL')
    .option('--rows <count>', 'at most so many')
  return does<Options>(command, sql)
}

export function runCommand(): Command {
  const command = new Command('run')
    .description(
      'Runs queries/<query>.sql on the engine of the service, with values of its slots. Saves and deploys nothing.',
    )
    .argument('<query>', 'the name of a file in queries/')
    .argument('[name=value...]', 'values of its slots')
    .option('--rows <count>', 'at most so many')
  return does<Options>(command, runDraft)
}

async function sql(context: Context, options: Options, [given = '']: string[]): Promise<void> {
  const statement = given === '-' ? await textOf(process.stdin) : given
  await show(context, { sql: statement, ...rowsOf(options) })
}

async function runDraft(context: Context, options: Options, [name = '', ...pairs]: string[]): Promise<void> {
  const { definition } = await readDefinition(context)
  const { queries = [] } = definition
  const query = queries.find((each) => each.name === name)
  if (query === undefined) {
    throw new CommandFailure('usage', `There is no queries/${name}.sql.`, {
      hint:
        queries.length === 0
          ? '`sluice pull` fetches the queries of the service.'
          : `There are: ${queries.map((each) => each.name).join(', ')}.`,
    })
  }
  const parameters = typedValues(valuesOf(pairs), query.slots?.properties ?? {})
  const body = { sql: query.sql, parameters, ...(query.slots !== undefined && { slots: query.slots }) }
  await show(context, { ...body, ...rowsOf(options) }, name)
}

type Asked = { sql: string; parameters?: Record<string, unknown>; max_rows?: number }

async function show(context: Context, body: Asked, query?: string): Promise<void> {
  const manage = await context.manage()
  const path = `/v1/projects/${await context.projectId()}/queries/run`
  const answer = await manage.send<Answer>('POST', path, body).catch(async (error: unknown) => {
    if (query === undefined || !(error instanceof CommandFailure)) throw error
    const message = messageInFile(await readFiles(context.folder), query, error.message)
    throw new CommandFailure(error.exit, message, { fields: error.fields, cause: error })
  })
  if (context.json) context.printJson(answer)
  else context.print(rowsText(answer, context))
}

function rowsOf({ rows }: Options): { max_rows?: number } {
  if (rows === undefined) return {}
  const count = Number(rows)
  if (Number.isInteger(count) && count > 0) return { max_rows: count }
  throw new CommandFailure('usage', `--rows ${rows} is no number of rows.`)
}
