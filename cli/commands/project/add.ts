import { Command } from 'commander'
import { mkdir, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { missingInputs, usualPrefix } from '../../../api/catalog-definition.ts'
import { readCatalog, type NamedEntry } from '../../context/catalog.ts'
import { does } from '../../context/command.ts'
import type { Context } from '../../context/context.ts'
import { readFiles } from '../../context/files.ts'
import { entryFiles, projectFile, type ProjectFiles } from '../../project/index.ts'
import { CommandFailure } from '../../terminal/exit.ts'
import { table, titled } from '../../terminal/table.ts'
import { importFiles, isSource, type AddOptions } from './import.ts'

export function addCommand(): Command {
  const command = new Command('add')
    .description(
      'Writes the API, connections and queries of an entry of the catalog as files: `sluice add github owner=octo-org repo=hello-world`. Without an entry it lists them. A curl command in quotes, or an OpenAPI document or Postman collection by its address or file, becomes one connection. Secrets stay in variables of the environment.',
    )
    .argument(
      '[entry]',
      'which API; a word that its name or description holds lists those; or curl, an address, a file',
    )
    .argument('[inputs...]', 'what it asks for, as name=value')
    .option('--as <name>', 'how its tables and queries begin, to add it a second time; of a connection: its table')
    .option('--operation <id>', 'which operation of a document')
  return does<AddOptions>(command, add)
}

/** Also how a project begins. */
export async function add(context: Context, options: AddOptions, [wanted, ...given]: string[]): Promise<void> {
  if (wanted !== undefined && isSource(wanted)) return addConnection(context, options, wanted)
  const catalog = await readCatalog()
  const found = catalog.find(({ name }) => name === wanted)
  if (found === undefined) return list(context, catalog, wanted)
  const { name, entry } = found
  const prefix = options.as ?? usualPrefix(name)
  if (!/^[a-z][a-z0-9_]*$/.test(prefix)) {
    throw new CommandFailure(
      'usage',
      `--as ${prefix} cannot begin the name of a table: lower case letters, digits and _ only.`,
    )
  }
  const values = readInputs(found, given)
  const { files, environment } = entryFiles({ name, entry, prefix, values }, await readFiles(context.folder))
  const paths = await writeNew(context, files, `\`sluice add ${name} --as ${prefix}_2\` adds it a second time.`)
  if (context.json) return context.printJson({ entry: name, written: paths, environment })
  tellNext(context, { credentials: entry.credentials, paths, environment })
}

async function addConnection(context: Context, options: AddOptions, source: string): Promise<void> {
  const { table: name, files, environment, notes } = await importFiles(context, source, options)
  const paths = await writeNew(context, files, `--as ${name}_2 gives its table another name.`)
  if (context.json) return context.printJson({ table: name, written: paths, environment, notes })
  tellNext(context, { paths, environment })
  for (const note of notes) context.print(context.style.dim(note))
}

/** Nothing is written over; but the file of the project takes variables. */
async function writeNew({ folder }: Context, files: ProjectFiles, hint: string): Promise<string[]> {
  const written = await readFiles(folder)
  const taken = [...files.keys()].find((path) => path !== projectFile && written.has(path))
  if (taken !== undefined) throw new CommandFailure('usage', `There is ${taken} already.`, { hint })
  for (const [path, text] of files) {
    await mkdir(dirname(join(folder, path)), { recursive: true })
    await writeFile(join(folder, path), text)
  }
  return [...files.keys()].toSorted()
}

/** Values by the names of the inputs; a secret is not among them, it would stay in the history of the shell. */
function readInputs({ name, entry }: NamedEntry, given: string[]): Record<string, string> {
  const values: Record<string, string> = {}
  for (const each of given) {
    const [, input = '', value = ''] = /^([^=]+)=(.*)$/s.exec(each) ?? []
    const known = (entry.inputs ?? {})[input]
    if (known === undefined) {
      const names = Object.keys(entry.inputs ?? {}).join(', ')
      throw new CommandFailure('usage', `${name} takes no ${each}; it takes ${names === '' ? 'nothing' : names}.`)
    }
    if (known.secret === true) {
      throw new CommandFailure(
        'usage',
        `${input} is a secret: it goes into a variable of the environment, not on the command line.`,
      )
    }
    values[input] = value
  }
  const missing = missingInputs(entry, values).filter((input) => (entry.inputs ?? {})[input]?.secret !== true)
  if (missing.length === 0) return values
  const example = missing.map((input) => `${input}=${(entry.inputs ?? {})[input]?.example ?? '…'}`).join(' ')
  throw new CommandFailure('usage', `${entry.title} needs ${missing.join(' and ')}.`, {
    hint: `sluice add ${name} ${example}`,
  })
}

function list(context: Context, catalog: NamedEntry[], wanted: string | undefined): void {
  const word = wanted?.toLowerCase() ?? ''
  const matches = catalog.filter(({ name, entry }) =>
    `${name} ${entry.title} ${entry.about} ${entry.category}`.toLowerCase().includes(word),
  )
  if (matches.length === 0) {
    throw new CommandFailure('usage', `The catalog has no ${wanted}.`, { hint: '`sluice add` lists all of it.' })
  }
  const rows = matches.map(({ name, entry }) => ({
    name,
    title: entry.title,
    about: entry.about,
    category: entry.category,
    inputs: Object.keys(entry.inputs ?? {}),
    tables: Object.keys(entry.tables),
  }))
  if (context.json) return context.printJson({ data: rows })
  const columns = titled('Entry', 'Category', 'What it brings')
  context.print(
    table(
      columns,
      rows.map(({ name, category, about }) => [name, category, about]),
      context.width,
    ),
  )
}

type Told = { credentials?: string | undefined; paths: string[]; environment: string[] }

function tellNext({ print, style }: Context, { credentials, paths, environment }: Told): void {
  for (const path of paths) print(`  ${style.good('+')} ${path}`)
  print('')
  if (environment.length > 0) {
    const where = credentials === undefined ? '' : ` (${credentials})`
    print(`Set ${environment.join(' and ')}${where} here or in .env, then run ${style.name('sluice release')}.`)
  } else print(`Run ${style.name('sluice release')} to load it.`)
}
