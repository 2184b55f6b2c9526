import { Command } from 'commander'
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { does } from '../../context/command.ts'
import type { Context } from '../../context/context.ts'
import { CommandFailure } from '../../terminal/exit.ts'
import { add } from './add.ts'
import type { AddOptions } from './import.ts'
import { fileSchemas, folders, newProjectFile, projectFile, schemaFolder } from '../../project/index.ts'

type Options = { url?: string; project?: string; from?: string } & AddOptions

const queriesNote = `# Queries

Each file here is a query: \`name.sql\`, SQL behind a comment that says what it answers and which slots it has.

\`\`\`sql
/*---
description: The products of a category with their prices, cheapest first.
slots:
  category:
    type: string
    required: true
    description: The category of the products.
examples:
  - question: which teas do we sell
    parameters: { category: tea }
---*/
select name, price
from products
where category = $category
order by price
\`\`\`
`

const ignored = `# Written by \`sluice start\`: everything the service keeps.
/data/
# Secrets that the files name as \${NAME}.
/.env
`

export function initCommand(): Command {
  const command = new Command('init')
    .description(
      'Writes sluice.yaml, the schemas of the files for your editor, and the folders of the project. What is there already stays. `sluice pull` then fetches a project that exists, or --from adds a first API as `sluice add` does.',
    )
    .argument('[inputs...]', 'what the entry of --from asks for, as name=value')
    .option('--from <source>', 'a curl command, an OpenAPI document, or an entry of the catalog')
    .option('--as <name>', 'how its tables begin')
    .option('--operation <id>', 'which operation of a document')
  return does<Options>(command, init)
}

async function init(context: Context, options: Options, inputs: string[]): Promise<void> {
  // In the folder where it is typed, whatever project may be above it.
  const folder = process.cwd()
  if (await exists(join(folder, projectFile))) {
    throw new CommandFailure('usage', `There is a ${projectFile} here already.`, {
      hint: '`sluice plan` shows what it would change, `sluice pull` fetches what the service has.',
    })
  }
  const settings = {
    ...(options.url !== undefined && { url: options.url }),
    ...(options.project !== undefined && { project: options.project }),
  }
  const files = new Map([
    [projectFile, newProjectFile(settings)],
    ...[...fileSchemas()].map(([name, schema]): [string, string] => [
      `${schemaFolder}/${name}`,
      `${JSON.stringify(schema, null, 2)}\n`,
    ]),
    ['queries/README.md', queriesNote],
    ['.gitignore', ignored],
  ])
  const written: string[] = []
  for (const [path, text] of files) {
    if (!path.startsWith(schemaFolder) && (await exists(join(folder, path)))) continue
    await mkdir(dirname(join(folder, path)), { recursive: true })
    await writeFile(join(folder, path), text)
    written.push(path)
  }
  for (const empty of folders) {
    await mkdir(join(folder, empty), { recursive: true })
  }
  if (options.from !== undefined) return add({ ...context, folder }, options, [options.from, ...inputs])
  if (context.json) context.printJson({ folder, written })
  else tellNext(context, options)
}

function tellNext({ print, style }: Context, { project }: Options): void {
  print(`${style.good('✓')} A project begins in ${style.bold(projectFile)}.`)
  print('')
  const next: Array<[string, string]> = [
    ['sluice start', 'a service on this machine, unless you have one'],
    ['sluice login', 'keep a management token for it'],
    ...(project === undefined
      ? [['sluice pull --project prj_…', 'fetch a project into these files'] as [string, string]]
      : []),
    ['sluice plan', 'what these files would change'],
    ['sluice release', 'change it'],
  ]
  const width = Math.max(...next.map(([command]) => command.length))
  for (const [command, what] of next) print(`  ${style.name(command.padEnd(width))}  ${style.dim(what)}`)
}

async function exists(path: string): Promise<boolean> {
  return readFile(path).then(
    () => true,
    () => false,
  )
}
