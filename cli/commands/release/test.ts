import { Command } from 'commander'
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { z } from 'zod'
import type { RowTest, testResult, testResults } from '../../../api/row-tests.ts'
import { does } from '../../context/command.ts'
import type { Context } from '../../context/context.ts'
import { readDefinition } from '../../context/files.ts'
import { writeProject } from '../../project/index.ts'
import { CommandFailure } from '../../terminal/exit.ts'
import { environmentOf } from './plan.ts'

type Results = z.output<typeof testResults>
type Result = z.output<typeof testResult>

export function testCommand(): Command {
  const command = new Command('test')
    .description(
      'Runs the tests in tests/*.yaml against the queries and models of the files, on the engine of the service and with the columns of its tables. Saves nothing; ends with 7 where one does not pass.',
    )
    .argument('[names...]', 'some of them, by the names of their files')
    .option('--from-call <query>', 'write a test of the last recorded call of a deployed query into tests/')
    .option('-e, --environment <name>', 'where that was called')
  return does<Options>(command, (context, options, names) =>
    options.fromCall === undefined ? runTests(context, names) : writeTest(context, options.fromCall, options),
  )
}

type Options = { fromCall?: string; environment?: string }

/** One step: the call, rows of the tables that it read, and what it gives, in a file of its own. */
async function writeTest(context: Context, query: string, options: Options): Promise<void> {
  const { definition } = await readDefinition(context)
  const taken = new Set((definition.tests ?? []).map(({ name }) => name))
  const [manage, projectId] = [await context.manage(), await context.projectId()]
  const asked = { query, environment: environmentOf(context, options), save: false }
  const made = await manage.send<RowTest>('POST', `/v1/projects/${projectId}/tests/from-call`, asked)
  const test = { ...made, name: freeName(made.name, taken) }
  const path = `tests/${test.name}.yaml`
  const text = writeProject({ definition: 1, tests: [test] }).get(path) ?? ''
  await mkdir(join(context.folder, 'tests'), { recursive: true })
  await writeFile(join(context.folder, path), text)
  if (context.json) context.printJson({ path, test })
  else context.print(`${context.style.good('✓')} ${path} is written. Look through its rows before you share them.`)
}

function freeName(name: string, taken: ReadonlySet<string>): string {
  for (let at = 2, free = name; ; at += 1) {
    if (!taken.has(free)) return free
    free = `${name}_${at}`
  }
}

async function runTests(context: Context, names: string[]): Promise<void> {
  const { definition } = await readDefinition(context)
  const { tests = [], queries = [], models = [] } = definition
  const missing = names.find((name) => !tests.some((test) => test.name === name))
  if (missing !== undefined) throw new CommandFailure('usage', `There is no test ${missing} in tests/.`)
  const chosen = names.length === 0 ? tests : tests.filter(({ name }) => names.includes(name))
  if (chosen.length === 0) {
    context.print('There are no tests in tests/. Make one of a recorded call: sluice test --from-call <query>')
    return
  }
  const [manage, projectId] = [await context.manage(), await context.projectId()]
  const named = new Set(chosen.flatMap(({ query, model }) => query ?? model ?? []))
  // A question goes to one query of all that there are.
  const asks = chosen.some(({ question }) => question !== undefined)
  const found = await manage.send<Results>('POST', `/v1/projects/${projectId}/tests/run`, {
    tests: chosen,
    queries: queries
      .filter(({ name }) => asks || named.has(name))
      .map(({ name, sql, slots, description, examples }) => ({
        name,
        sql,
        description,
        examples,
        ...(slots !== undefined && { slots }),
      })),
    models: models.filter(({ name }) => named.has(name)).map(({ name, sql }) => ({ name, sql })),
  })
  if (context.json) context.printJson(found)
  else for (const line of found.results.flatMap((result) => resultLines(context, result))) context.print(line)
  if (found.failed === 0) {
    if (!context.json) context.print(`${context.style.good('✓')} ${countText(found.passed)} passed.`)
    return
  }
  throw new CommandFailure('negative', `${found.failed} of ${countText(found.results.length)} did not pass.`, {
    fields: { failed: found.results.filter(({ passed }) => !passed).map(({ name }) => name) },
  })
}

function countText(count: number): string {
  return `${count} ${count === 1 ? 'test' : 'tests'}`
}

/** A test that does not pass with what differs, as a difference of two texts. */
function resultLines(
  { style }: Context,
  { name, query, model, passed, message, missing, unexpected }: Result,
): string[] {
  const head = `${style.bold(name)}  ${style.dim(query ?? model ?? '')}`
  if (passed) return [`  ${style.good('✓')} ${head}`]
  return [
    `  ${style.bad('✗')} ${head}`,
    `      ${message ?? ''}`,
    ...missing.map((row) => `      ${style.bad(`- ${JSON.stringify(row)}`)}`),
    ...unexpected.map((row) => `      ${style.good(`+ ${JSON.stringify(row)}`)}`),
  ]
}
