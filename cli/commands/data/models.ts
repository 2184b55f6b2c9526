import { Command } from 'commander'
import type { z } from 'zod'
import type { model, modelComparison } from '../../../api/models.ts'
import { does } from '../../context/command.ts'
import type { Context } from '../../context/context.ts'
import { followJob, type Job } from '../../context/follow-job.ts'
import { CommandFailure } from '../../terminal/exit.ts'
import { table } from '../../terminal/table.ts'
import { timeText } from '../../terminal/texts.ts'
import { comparisonText } from '../release/plan-text.ts'

type Model = z.output<typeof model>
type Comparison = z.output<typeof modelComparison>

export function modelsCommand(): Command {
  const command = new Command('models')
  const list = new Command('list').summary('the models, with their rows, their age and what is wrong')
  const check = new Command('check')
    .summary('compare merged models with a full build')
    .description(
      'Builds merged models in full, beside the rows that were merged, and compares them by key. Stores nothing; ends with 7 where they differ.',
    )
    .argument('[names...]', 'some models, merged or not')
  const rebuild = new Command('rebuild')
    .summary('build a model now, and wait for it')
    .argument('<name>', 'a model')
    .option('--full', 'all of it, where only what is new would be merged')
  command.addCommand(does(list, listModels), { isDefault: true })
  command.addCommand(does(check, checkModels))
  command.addCommand(does<{ full?: boolean }>(rebuild, rebuildModel))
  return command
}

async function readModels(context: Context): Promise<Model[]> {
  const manage = await context.manage()
  return manage.list<Model>(`/v1/projects/${await context.projectId()}/models`)
}

async function listModels(context: Context): Promise<void> {
  const models = await readModels(context)
  if (context.json) return context.printJson(models)
  if (models.length === 0) return context.print('There is no model yet: a file models/<table>.sql makes one.')
  const columns = ['Model', 'Status', 'Rows', 'Data of', 'Reads', 'Problem'].map((title) => ({
    title,
    whole: title === 'Model',
    ...(title === 'Rows' && { align: 'right' as const }),
  }))
  const rows = models.map((each) => [
    each.name,
    each.behind.length > 0 && each.status === 'ready' ? 'behind' : each.status,
    each.row_count?.toLocaleString('en') ?? '',
    each.as_of === null ? '' : timeText(each.as_of),
    each.reads.join(', '),
    each.problem ?? '',
  ])
  context.print(table(columns, rows, context.width))
}

async function checkModels(context: Context, _options: object, names: string[]): Promise<void> {
  const models = await readModels(context)
  const missing = names.find((name) => !models.some((each) => each.name === name))
  if (missing !== undefined) throw noModel(missing, models)
  const wanted = models.filter(({ name, load }) => (names.length === 0 ? load.mode === 'merge' : names.includes(name)))
  const manage = await context.manage()
  const compared: Array<Comparison & { name: string }> = []
  for (const { name } of wanted) {
    const path = `/v1/projects/${await context.projectId()}/models/${encodeURIComponent(name)}/compare`
    const found = { name, ...(await manage.send<Comparison>('POST', path, {})) }
    compared.push(found)
    if (!context.json) context.print(checkedText(context, found))
  }
  if (context.json) context.printJson(compared)
  else if (wanted.length === 0) context.print('No model is merged: each build is the whole table.')
  const different = compared.filter((each) => !isSame(each)).map(({ name }) => name)
  if (different.length === 0) return
  throw new CommandFailure('negative', `Not as a full build: ${different.join(', ')}.`, {
    hint: `sluice models rebuild ${different[0] ?? ''} --full makes the full build the table.`,
    fields: { different },
  })
}

function isSame({ added, removed, changed, columns_added: more, columns_removed: less, ...rest }: Comparison): boolean {
  return added + removed + changed + more.length + less.length + rest.columns_retyped.length === 0
}

function checkedText({ style }: Context, compared: Comparison & { name: string }): string {
  const { name, equal } = compared
  if (!isSame(compared)) return comparisonText(compared, style)
  return `  ${style.good('✓')} ${style.bold(name)}: ${equal.toLocaleString('en')} rows, as a full build gives them`
}

async function rebuildModel(context: Context, { full = false }: { full?: boolean }, [name = '']: string[]) {
  const models = await readModels(context)
  if (!models.some((each) => each.name === name)) throw noModel(name, models)
  const manage = await context.manage()
  const path = `/v1/projects/${await context.projectId()}/models/${encodeURIComponent(name)}/rebuild`
  const queued = await manage.send<Job>('POST', path, { full })
  const job = await followJob(context, queued.id, name)
  if (context.json) context.printJson(job)
  if (job.status !== 'succeeded')
    throw new CommandFailure('negative', job.error?.message ?? `The job was ${job.status}.`, { fields: { job } })
  const built = (await readModels(context)).find((each) => each.name === name)
  if (context.json) return
  if (built?.status === 'held') context.print(`${context.style.warn('!')} The build is held: ${built.problem ?? ''}`)
  else context.print(`${context.style.good('✓')} ${name} has ${(built?.row_count ?? 0).toLocaleString('en')} rows.`)
}

function noModel(name: string, models: Model[]): CommandFailure {
  return new CommandFailure('usage', `There is no model ${name}.`, {
    hint:
      models.length === 0
        ? 'A file models/<table>.sql makes one.'
        : `There are: ${models.map((each) => each.name).join(', ')}.`,
  })
}
