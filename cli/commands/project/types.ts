import { Command, Option } from 'commander'
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { dirname } from 'node:path'
import { does } from '../../context/command.ts'
import type { Context } from '../../context/context.ts'
import { CommandFailure } from '../../terminal/exit.ts'
import { pythonOf } from '../../types/python.ts'
import { deployedQueries, type DeployedQuery, type ProjectDocument } from '../../types/query-types.ts'
import { typescriptOf } from '../../types/typescript.ts'
import { environmentOf } from '../release/plan.ts'
import { countText } from '../../terminal/texts.ts'

type Options = { environment?: string; output?: string; language?: 'typescript' | 'python'; check?: boolean }

export function typesCommand(): Command {
  const command = new Command('types')
    .description(
      'The slots and result columns of every query that is deployed, as types: for `sluice/client` in TypeScript, or for the Python client.',
    )
    .option('-e, --environment <name>', 'what is deployed there')
    .addOption(
      new Option('-l, --language <name>', 'of the types').choices(['typescript', 'python']).default('typescript'),
    )
    .option('-o, --output <file>', 'write them there instead of to standard output')
    .option('--check', 'only say whether the file is as it would be written')
  return does<Options>(command, types)
}

async function types(context: Context, options: Options): Promise<void> {
  const environment = environmentOf(context, options)
  const queries = await readDeployed(context, environment)
  const write = options.language === 'python' ? pythonOf : typescriptOf
  const text = write(queries, environment)
  if (options.check === true) await check(text, options.output)
  else if (options.output === undefined) {
    if (context.json) context.printJson({ environment, queries })
    else process.stdout.write(text)
  } else {
    await mkdir(dirname(options.output), { recursive: true })
    await writeFile(options.output, text)
    if (context.json) context.printJson({ output: options.output, queries: queries.length })
    else
      context.print(`${context.style.good('✓')} ${countText(queries.length, 'query', 'queries')} in ${options.output}`)
  }
}

async function check(text: string, output: string | undefined): Promise<void> {
  if (output === undefined) throw new CommandFailure('usage', '--check needs the file: --output <file>')
  const written = await readFile(output, 'utf8').catch(() => '')
  if (written === text) return
  throw new CommandFailure('negative', `${output} is not what is deployed.`, { hint: 'Run `sluice types` again.' })
}

async function readDeployed(context: Context, environment: string): Promise<DeployedQuery[]> {
  const manage = await context.manage()
  const path = `/v1/projects/${await context.projectId()}/openapi.json`
  return deployedQueries(await manage.get<ProjectDocument>(path, { environment }))
}
