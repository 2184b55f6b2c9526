import { Command } from 'commander'
import type { z } from 'zod'
import type { testResult, testResults } from '../../../api/row-tests.ts'
import { does } from '../../context/command.ts'
import { readDefinition, type Context } from '../../context/context.ts'
import { CommandFailure } from '../../terminal/exit.ts'

type Results = z.output<typeof testResults>
type Result = z.output<typeof testResult>

export function testCommand(): Command {
  const command = new Command('test')
    .summary('run the tests with rows')
    .description(
      'Runs the tests in tests/*.yaml against the queries and models of the files, on the engine of the service and with the columns of its tables. Saves nothing; ends with 1 where one does not pass.',
    )
    .argument('[names...]', 'some of them, by the names of their files')
  return does(command, runTests)
}

async function runTests(context: Context, _options: object, names: string[]): Promise<void> {
  const { definition } = await readDefinition(context)
  const { tests = [], queries = [], models = [] } = definition
  const missing = names.find((name) => !tests.some((test) => test.name === name))
  if (missing !== undefined) throw new CommandFailure('usage', `There is no test ${missing} in tests/.`)
  const chosen = names.length === 0 ? tests : tests.filter(({ name }) => names.includes(name))
  if (chosen.length === 0) {
    context.print('There are no tests in tests/.')
    return
  }
  const [manage, projectId] = [await context.manage(), await context.projectId()]
  const named = new Set(chosen.flatMap(({ query, model }) => query ?? model ?? []))
  const found = await manage.send<Results>('POST', `/v1/projects/${projectId}/tests/run`, {
    tests: chosen,
    queries: queries
      .filter(({ name }) => named.has(name))
      .map(({ name, sql, slots }) => ({ name, sql, ...(slots !== undefined && { slots }) })),
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
