import { Command } from 'commander'
import type { z } from 'zod'
import type { evaluationRun } from '../../../api/questions.ts'
import { does } from '../../context/command.ts'
import type { Context } from '../../context/context.ts'
import { CommandFailure } from '../../terminal/exit.ts'
import { environmentOf } from './plan.ts'
import { cellText } from '../../terminal/texts.ts'

type Options = { environment?: string }
type Run = z.output<typeof evaluationRun>

export function evaluateCommand(): Command {
  const command = new Command('evaluate')
    .description(
      'Asks the cases that the service has (`sluice release` brings those of evaluations/) of the queries that are deployed. Ends with 7 where one does not pass.',
    )
    .option('-e, --environment <name>', 'which queries may answer')
  return does<Options>(command, evaluate)
}

async function evaluate(context: Context, options: Options): Promise<void> {
  const [manage, environment] = [await context.manage(), environmentOf(context, options)]
  const path = `/v1/projects/${await context.projectId()}/evaluations/run`
  const progress = context.progress()
  progress.show(null, 'asking')
  const run = await manage.send<Run>('POST', path, { environment }).finally(() => progress.end())
  if (context.json) context.printJson(run)
  else report(context, run)
  if (run.passed < run.total) {
    throw new CommandFailure('negative', `${run.total - run.passed} of ${run.total} do not pass.`, {
      fields: { run: run.id },
    })
  }
}

function report({ print, style }: Context, { total, passed, results, environment }: Run): void {
  const failed = results.filter((each) => !each.passed)
  for (const { question, expected, got } of failed) {
    print(`${style.bad('✗')} “${question}”`)
    print(`    expected ${nameOf(expected.query, expected.parameters)}`)
    print(`    got      ${got.outcome === 'answered' ? nameOf(got.query, got.parameters) : got.outcome}`)
  }
  if (failed.length === 0) {
    print(total === 0 ? 'There are no cases.' : `${style.good('✓')} All ${passed} pass in ${environment}.`)
  }
}

function nameOf(query: string | null, parameters: Record<string, unknown> | null): string {
  const values = Object.entries(parameters ?? {}).map(([name, value]) => `${name} = ${cellText(value)}`)
  return `${query ?? 'a refusal'}${values.length === 0 ? '' : ` with ${values.join(', ')}`}`
}
