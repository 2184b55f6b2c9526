import { readFileSync } from 'node:fs'
import { Command } from 'commander'
import type { z } from 'zod'
import type { engineMove } from '../../../api/engine-moves.ts'
import type { project } from '../../../api/projects.ts'
import { does } from '../../context/command.ts'
import type { Context } from '../../context/context.ts'
import { CommandFailure } from '../../terminal/exit.ts'
import { table, titled } from '../../terminal/table.ts'
import { agree } from '../release/promote.ts'

type Move = z.output<typeof engineMove>
type Text = Move['queries'][number]
type Wish = { name: string; version?: number; sql?: string; parameters?: unknown[]; accept?: string[]; exclude?: true }
type Options = {
  rewrite?: string[]
  values?: string[]
  exclude?: string[]
  accept?: string[]
  anyOrder?: string[]
  yes?: boolean
}

const shownRows = 3
const maxValueChars = 160

export function engineCommand(): Command {
  const command = new Command('engine').summary('which engine answers the queries, and moving to another')
  command.addCommand(does(new Command('show').summary('the engine of the project'), show), { isDefault: true })
  const check = ofMove('check', 'run every query on another engine too, and compare').description(
    'Every query is run on both engines over the same values: those that you give, its examples, and recorded calls. Nothing is switched.',
  )
  command.addCommand(does<Options>(check, checkMove))
  const switching = ofMove('switch', 'put the project on another engine')
    .description('Compares as `check` does; where nothing stands against it, everything is switched as one act.')
    .option('-y, --yes', 'do not ask')
  command.addCommand(does<Options>(switching, switchMove))
  return command
}

function ofMove(name: string, summary: string): Command {
  return new Command(name)
    .summary(summary)
    .argument('<engine>', 'duckdb or trino')
    .option('--rewrite <query=file...>', 'the SQL of a query on that engine, in a file; query@3 is its version 3')
    .option('--values <query=json...>', 'values to compare a query on, such as \'sales={"year":2026}\'')
    .option('--exclude <query...>', 'leave a query behind: it stops answering')
    .option('--accept <query...>', 'move a query although there is nothing to compare it on')
    .option('--any-order <query...>', 'the same rows in another order will do for a query')
}

async function show(context: Context): Promise<void> {
  const manage = await context.manage()
  const { engine } = await manage.get<z.output<typeof project>>(`/v1/projects/${await context.projectId()}`)
  if (context.json) context.printJson({ engine })
  else context.print(engine)
}

async function checkMove(context: Context, options: Options, [engine = '']: string[]): Promise<void> {
  const move = await send(context, { engine, queries: wishesOf(options), isCheck: true })
  if (context.json) context.printJson(move)
  else context.print(moveText(context, move))
  if (!move.ready) throw new CommandFailure('negative', `The project cannot be switched to ${engine} as it is.`)
}

async function switchMove(context: Context, options: Options, [engine = '']: string[]): Promise<void> {
  const queries = wishesOf(options)
  if (options.yes !== true) await agree(context, `Put the project on ${engine}?`)
  const move = await send(context, { engine, queries, isCheck: false })
  if (context.json) context.printJson(move)
  else context.print(`${moveText(context, move)}\n${context.style.good('✓')} The project is on ${move.to}.`)
}

async function send(
  context: Context,
  { engine, queries, isCheck }: { engine: string; queries: Wish[]; isCheck: boolean },
): Promise<Move> {
  const [manage, projectId] = [await context.manage(), await context.projectId()]
  const progress = context.progress()
  progress.show(null, 'running every query on both engines')
  try {
    return await manage.send<Move>('POST', `/v1/projects/${projectId}/engine?check=${isCheck}`, { engine, queries })
  } finally {
    progress.end()
  }
}

/** The wish for each query, however many options name it. */
function wishesOf({ rewrite = [], values = [], exclude = [], accept = [], anyOrder = [] }: Options): Wish[] {
  const wishes = new Map<string, Wish>()
  const of = (word: string): Wish => {
    const [name = '', version] = word.split('@')
    const wish = wishes.get(word) ?? { name, ...(version !== undefined && { version: Number(version) }) }
    wishes.set(word, wish)
    return wish
  }
  for (const [query, file] of rewrite.map(pairOf)) of(query).sql = textOf(file)
  for (const [query, json] of values.map(pairOf)) {
    const wish = of(query)
    wish.parameters = [...(wish.parameters ?? []), valuesOf(query, json)]
  }
  for (const query of exclude) of(query).exclude = true
  for (const [names, word] of [[accept, 'unchecked'] as const, [anyOrder, 'order'] as const]) {
    for (const query of names) {
      const wish = of(query)
      wish.accept = [...(wish.accept ?? []), word]
    }
  }
  return [...wishes.values()]
}

function pairOf(word: string): [query: string, value: string] {
  const at = word.indexOf('=')
  if (at > 0) return [word.slice(0, at), word.slice(at + 1)]
  throw new CommandFailure('usage', `${word} is not of the form query=…`)
}

function textOf(file: string): string {
  try {
    return readFileSync(file, 'utf8')
  } catch (error) {
    throw new CommandFailure('usage', `${file} cannot be read.`, { cause: error })
  }
}

function valuesOf(query: string, json: string): unknown {
  try {
    return JSON.parse(json) as unknown
  } catch (error) {
    throw new CommandFailure('usage', `The values of ${query} are no JSON: ${json}`, { cause: error })
  }
}

function moveText({ style, width }: Context, { queries, summary }: Move): string {
  const columns = titled('Query', 'Answers in', 'On both', 'Compared', 'Because')
  const rows = queries.map((text) => [
    text.version === null ? text.name : `${text.name}@${text.version}`,
    text.environments.join(', ') || 'nowhere',
    text.blocks ? style.warn(text.status) : style.good(text.status),
    String(text.compared),
    text.because ?? '',
  ])
  const differing = queries.flatMap((text) => differenceLines(text))
  return [...(rows.length === 0 ? [] : [table(columns, rows, width)]), ...differing, summary].join('\n')
}

/** The first call that differs of each, with the first rows. */
function differenceLines({ name, differences: [first] }: Text): string[] {
  if (first === undefined) return []
  const rows = first.rows.slice(0, shownRows).map(({ kind, before, after }) => {
    if (kind === 'added') return `    + ${valueText(after)}`
    return kind === 'removed' ? `    - ${valueText(before)}` : `    ~ ${valueText(before)} → ${valueText(after)}`
  })
  return [
    `  ${name}, with ${valueText(first.parameters)}${first.because === null ? '' : `: ${first.because}`}`,
    ...rows,
  ]
}

function valueText(value: unknown): string {
  const text = JSON.stringify(value) ?? 'null'
  return text.length > maxValueChars ? `${text.slice(0, maxValueChars)}…` : text
}
