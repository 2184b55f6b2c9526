import { Command } from 'commander'
import type { z } from 'zod'
import type { environment } from '../../../api/projects.ts'
import { does } from '../../context/command.ts'
import type { Context } from '../../context/context.ts'
import { table } from '../../terminal/table.ts'
import { timeText } from '../../terminal/texts.ts'

type Deployment = { environment: string }

export function environmentsCommand(): Command {
  const command = new Command('environments')
  const list = does(new Command('list').summary('environments with the number of their queries'), listEnvironments)
  const create = new Command('create').summary('make an environment').argument('<name>', 'small letters, digits and _')
  const remove = new Command('delete')
    .summary('delete an environment in which nothing is deployed')
    .argument('<name>', 'its name')
  command.addCommand(list, { isDefault: true })
  command.addCommand(does(create, createEnvironment))
  command.addCommand(does(remove, deleteEnvironment))
  return command
}

const pathOf = async (context: Context): Promise<string> => `/v1/projects/${await context.projectId()}/environments`

async function listEnvironments(context: Context): Promise<void> {
  const manage = await context.manage()
  const all = await manage.list<z.output<typeof environment>>(await pathOf(context))
  const deployed = await manage.list<Deployment>(`/v1/projects/${await context.projectId()}/deployments`)
  const rows = all.map(({ name, created_at }) => ({
    name,
    queries: deployed.filter((each) => each.environment === name).length,
    created_at,
  }))
  if (context.json) return context.printJson(rows)
  const columns = [
    { title: 'Environment', whole: true },
    { title: 'Queries', align: 'right' as const },
    { title: 'Since' },
  ]
  const cells = rows.map(({ name, queries, created_at: since }) => [name, String(queries), timeText(since)])
  context.print(table(columns, cells, context.width))
}

async function createEnvironment(context: Context, _options: object, [name = '']: string[]): Promise<void> {
  const manage = await context.manage()
  const made = await manage.send<z.output<typeof environment>>('POST', await pathOf(context), { name })
  if (context.json) context.printJson(made)
  else context.print(`${context.style.good('✓')} ${made.name} is there; nothing is deployed in it yet.`)
}

async function deleteEnvironment(context: Context, _options: object, [name = '']: string[]): Promise<void> {
  const manage = await context.manage()
  await manage.send('DELETE', `${await pathOf(context)}/${encodeURIComponent(name)}`)
  if (context.json) context.printJson({ deleted: name })
  else context.print(`${context.style.good('✓')} ${name} is deleted.`)
}
