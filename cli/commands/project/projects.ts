import { Command, Option } from 'commander'
import type { z } from 'zod'
import type { project } from '../../../api/projects.ts'
import { does } from '../../context/command.ts'
import type { Context } from '../../context/context.ts'
import { engineCommand } from './engine.ts'
import { table, titled } from '../../terminal/table.ts'

type Project = z.output<typeof project>
type Options = { engine?: Project['engine'] }

export function projectsCommand(): Command {
  const command = new Command('projects')
  const list = does(new Command('list').summary('projects that the token reaches'), listProjects)
  const create = new Command('create')
    .summary('make an empty project')
    .description('Makes a project, with the environments development, staging and production, and prints its id.')
    .argument('<name>', 'what people call it')
    .addOption(new Option('--engine <engine>', 'what answers its queries').choices(['duckdb', 'trino']))
  command.addCommand(list, { isDefault: true })
  command.addCommand(does<Options>(create, createProject))
  command.addCommand(engineCommand())
  return command
}

async function listProjects(context: Context): Promise<void> {
  const manage = await context.manage()
  const projects = await manage.list<Project>('/v1/projects')
  if (context.json) return context.printJson(projects)
  const columns = titled('Project', 'Name', 'Role', 'Engine')
  const rows = projects.map(({ id, name, role, engine }) => [id, name, role, engine])
  context.print(rows.length === 0 ? 'There is no project yet.' : table(columns, rows, context.width))
}

async function createProject(context: Context, { engine }: Options, [name = '']: string[]): Promise<void> {
  const manage = await context.manage()
  const body = { name, ...(engine !== undefined && { engine }) }
  const made = await manage.send<Project>('POST', '/v1/projects', body)
  if (context.json) return context.printJson(made)
  const { print, style } = context
  print(`${style.good('✓')} ${made.name} is project ${style.name(made.id)}.`)
  print(style.dim(`Write \`project: ${made.id}\` into sluice.yaml, or set SLUICE_PROJECT.`))
}
