import { Command } from 'commander'
import type { z } from 'zod'
import type { questionAnswer, triedQuestion } from '../../../api/questions.ts'
import { QuestionRefused } from '../../../clients/typescript/index.ts'
import { does } from '../../context/command.ts'
import type { Context } from '../../context/context.ts'
import { CommandFailure, exitCodes } from '../../terminal/exit.ts'
import { openCalls } from '../../context/calls.ts'
import { failureOf } from '../../service/manage.ts'
import { environmentOf } from '../release/plan.ts'
import { rowsText } from './rows-text.ts'
import { cellText } from '../../terminal/texts.ts'

type Options = { environment?: string; explain?: boolean; strict?: boolean; partial?: boolean; timeZone?: string }
type Tried = z.output<typeof triedQuestion>
type Answered = z.output<typeof questionAnswer>

export function askCommand(): Command {
  const command = new Command('ask')
    .description(
      'Asks in plain language: the deployed query that answers it is found, its slots are filled, its rows come. With an API key as a caller asks; with a management token alone, as a trial that is not counted.',
    )
    .argument('<question...>', 'the question')
    .option('-e, --environment <name>', 'which queries may answer')
    .option('--explain', 'say why this query and these values')
    .option('--strict', 'refuse also what is only likely to be left out')
    .option('--partial', 'answer also what leaves something out')
    .option('--time-zone <name>', 'in which “today” is meant')
  return does<Options>(command, ask)
}

async function ask(context: Context, options: Options, words: string[]): Promise<void> {
  const question = words.join(' ')
  const more = {
    ...(options.explain === true && { explain: true }),
    ...(options.strict === true && { strict: true }),
    ...(options.partial === true && { partial: true }),
    ...(options.timeZone !== undefined && { time_zone: options.timeZone }),
  }
  const key = await context.key()
  if (key === undefined) await tryIt(context, question, { ...more, environment: environmentOf(context, options) })
  else await askAsCaller(context, { question, more, environment: options.environment })
}

async function askAsCaller(
  context: Context,
  { question, more, environment }: { question: string; more: object; environment: string | undefined },
): Promise<void> {
  const calls = await openCalls(context, environment)
  const body = { query: question, project_id: await context.projectId(), ...more }
  try {
    const answer = (await calls.json('/v1/query', { method: 'POST', body, repeatable: true })) as Answered
    if (context.json) context.printJson(answer)
    else {
      tellQuery(context, answer.query_used, answer.parameters, answer.confidence)
      context.print(rowsText(answer, context))
      if (answer.routing !== undefined) context.print(JSON.stringify(answer.routing, null, 2))
    }
  } catch (error) {
    if (!(error instanceof QuestionRefused)) throw failureOf(error)
    throw refusal(error.message, error.candidates, error.body)
  }
}

async function tryIt(context: Context, question: string, more: object): Promise<void> {
  const manage = await context.manage()
  const path = `/v1/projects/${await context.projectId()}/ask`
  const tried = await manage.send<Tried>('POST', path, { question, run: true, ...more })
  if (tried.outcome !== 'answered') throw refusal(tried.message ?? tried.outcome, tried.candidates, tried)
  if (context.json) context.printJson(tried)
  else {
    tellQuery(context, tried.query_used ?? '', tried.parameters, tried.routing?.confidence ?? null)
    const { data = [], version, ...rest } = tried
    context.print(rowsText({ ...rest, data, ...(version !== undefined && { version }) }, context))
  }
}

function tellQuery(
  { print, style }: Context,
  name: string,
  parameters: Record<string, unknown>,
  confidence: number | null,
): void {
  const values = Object.entries(parameters).map(([slot, value]) => `${slot} = ${cellText(value) || 'nothing'}`)
  const sure = confidence === null ? '' : style.dim(`  (${Math.round(confidence * 100)} % sure)`)
  print(`${style.name(name)}${values.length === 0 ? '' : `  ${values.join(', ')}`}${sure}\n`)
}

function refusal(
  message: string,
  candidates: Array<{ name: string; example: string }>,
  fields: Record<string, unknown>,
): CommandFailure {
  const near = candidates.slice(0, 3).map(({ name, example }) => `  ${name}: “${example}”`)
  const hint = near.length === 0 ? {} : { hint: ['The nearest that is answered:', ...near].join('\n') }
  return new CommandFailure('negative', message, { ...hint, fields: { ...fields, exit: exitCodes.negative } })
}
