import { Command } from 'commander'
import type { z } from 'zod'
import type { dataObject } from '../../../api/data.ts'
import type { query } from '../../../api/queries.ts'
import { does } from '../../context/command.ts'
import type { Context } from '../../context/context.ts'
import { CommandFailure } from '../../terminal/exit.ts'
import { table, titled } from '../../terminal/table.ts'
import { countText, timeText } from '../../terminal/texts.ts'

type Table = z.output<typeof dataObject>
type Query = z.output<typeof query>
type Slot = Query['slots']['properties'][string]

export function tablesCommand(): Command {
  const command = new Command('tables').description(
    'Lists the tables of the project as they serve now: loaded by connections, or built by models.',
  )
  return does(command, listTables)
}

export function describeCommand(): Command {
  const command = new Command('describe')
    .description('Shows what a table holds, or what a query takes and returns, as SQL and calls see it.')
    .argument('<name>', 'a table or a query')
  return does(command, describe)
}

/** The tables that serve, by name. */
async function liveTables(context: Context): Promise<Table[]> {
  const manage = await context.manage()
  const objects = await manage.list<Table>(`/v1/projects/${await context.projectId()}/data-objects`)
  return objects
    .filter(({ is_live: isLive, kind }) => isLive && kind !== 'rejected_values')
    .toSorted((a, b) => (a.table_name < b.table_name ? -1 : 1))
}

async function listTables(context: Context): Promise<void> {
  const tables = await liveTables(context)
  if (context.json) return context.printJson(tables)
  if (tables.length === 0) {
    context.print('There is no table yet. `sluice add` lists APIs that are ready; `sluice release` loads them.')
    return
  }
  const right = 'right' as const
  const columns = [
    { title: 'Table', whole: true },
    { title: 'Rows', align: right },
    { title: 'Columns', align: right },
    { title: 'Version', align: right },
    { title: 'As of' },
  ]
  const rows = tables.map(({ table_name: name, row_count: count, columns: own, version, created_at: at }) => [
    name,
    (count ?? 0).toLocaleString('en'),
    String(own?.length ?? 0),
    String(version),
    timeText(at),
  ])
  context.print(table(columns, rows, context.width))
}

async function describe(context: Context, _options: object, [name = '']: string[]): Promise<void> {
  const tables = await liveTables(context)
  const found = tables.find((each) => each.table_name === name)
  if (found !== undefined) return context.json ? context.printJson(found) : describeTable(context, found)
  const manage = await context.manage()
  const queries = await manage.list<Query>(`/v1/projects/${await context.projectId()}/queries`)
  const query = queries.find((each) => each.name === name)
  if (query === undefined) {
    const near = [...tables.map((each) => each.table_name), ...queries.map((each) => each.name)].slice(0, 20)
    throw new CommandFailure('usage', `There is no table and no query ${name}.`, {
      hint: near.length === 0 ? '`sluice release` brings some.' : `There are: ${near.join(', ')}.`,
    })
  }
  const inspected = await manage.send<{ columns: Column[] }>(
    'POST',
    `/v1/projects/${await context.projectId()}/queries/inspect`,
    { sql: query.sql, slots: query.slots },
  )
  if (context.json) context.printJson({ ...query, columns: inspected.columns })
  else describeQuery(context, query, inspected.columns)
}

type Column = { name: string; type: string }

function describeTable(context: Context, { columns, row_count: count, version, created_at: at }: Table): void {
  context.print(columnsText(columns ?? [], context))
  context.print(context.style.dim(`${countText(count ?? 0, 'row')}, version ${version}, as of ${timeText(at)}`))
}

function describeQuery(context: Context, query: Query, columns: Column[]): void {
  const { print, style } = context
  if (query.description !== '') print(`${query.description}\n`)
  const slots = Object.entries(query.slots.properties)
  if (slots.length > 0) {
    const head = titled('Slot', 'Type', 'Given', 'Description')
    const rows = slots.map(([slot, schema]) => [
      slot,
      typeText(schema),
      query.slots.required.includes(slot) ? 'always' : givenText(schema),
      schema.description ?? '',
    ])
    print(`${table(head, rows, context.width)}\n`)
  }
  print(columnsText(columns, context))
  const live = query.deployments.map(({ environment, version }) => `${environment} version ${version}`)
  print(style.dim(live.length === 0 ? 'Not deployed.' : `Deployed: ${live.join(', ')}.`))
  const [example] = query.examples
  if (example !== undefined) print(style.dim(`Asked as: ${example.question}`))
}

function typeText(slot: Slot): string {
  const { type } = slot
  if ('enum' in slot && slot.enum !== undefined) return slot.enum.map(String).join(' | ')
  if ('format' in slot && slot.format !== undefined) return slot.format
  return type
}

function givenText({ default: usual }: Slot): string {
  return usual === undefined || usual === null ? 'or not' : `or ${String(usual)}`
}

function columnsText(columns: Column[], { width }: Context): string {
  return table(
    titled('Column', 'Type'),
    columns.map(({ name, type }) => [name, type]),
    width,
  )
}
