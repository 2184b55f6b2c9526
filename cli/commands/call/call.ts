import { Command, Option } from 'commander'
import { createWriteStream } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { text as textOf } from 'node:stream/consumers'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { does } from '../../context/command.ts'
import type { Context } from '../../context/context.ts'
import { CommandFailure } from '../../terminal/exit.ts'
import { openCalls } from '../../context/calls.ts'
import { failureOf } from '../../service/manage.ts'
import { rowsText } from './rows-text.ts'
import { valuesOf } from './values.ts'

type Options = { environment?: string; data?: string; format?: Format; output?: string }
type Format = 'table' | 'json' | 'csv' | 'ndjson' | 'parquet' | 'arrow' | 'xlsx'

const binary = new Set<Format>(['parquet', 'arrow', 'xlsx'])

export function callCommand(): Command {
  const command = new Command('call')
    .description(
      'Calls a deployed query with an API key. Values are written as name=value; the name of a list is repeated.',
    )
    .argument('<query>', 'the name of a query')
    .argument('[name=value...]', 'values of its slots')
    .option('-e, --environment <name>', 'where it is deployed')
    .option('-d, --data <json>', 'the values as JSON instead; @file reads a file, - standard input')
    .addOption(
      new Option('-f, --format <format>', 'how the rows come')
        .choices(['table', 'json', 'csv', 'ndjson', 'parquet', 'arrow', 'xlsx'])
        .default('table'),
    )
    .option('-o, --output <file>', 'write them into a file')
  return does<Options>(command, call)
}

async function call(context: Context, options: Options, [name = '', ...pairs]: string[]): Promise<void> {
  const format = context.json ? 'json' : (options.format ?? 'table')
  if (binary.has(format) && options.output === undefined && process.stdout.isTTY) {
    throw new CommandFailure('usage', `${format} is not for a terminal.`, { hint: 'Name a file with --output.' })
  }
  const calls = await openCalls(context, options.environment)
  const wire = format === 'table' ? 'json' : format
  const path = `/v1/queries/${encodeURIComponent(name)}`
  const body = options.data === undefined ? undefined : await readBody(options.data)
  const address = `${path}?${new URLSearchParams([...(body === undefined ? valuesOf(pairs).map(inAddress) : []), ['format', wire]]).toString()}`
  const answer = await calls
    .response(address, body === undefined ? {} : { method: 'POST', body, repeatable: true })
    .catch((error: unknown) => {
      throw failureOf(error)
    })
  if (format === 'table') {
    context.print(rowsText((await answer.json()) as Parameters<typeof rowsText>[0], context))
    return
  }
  await write(answer, options.output)
}

async function write(answer: Response, output: string | undefined): Promise<void> {
  if (answer.body === null) return
  const bytes = Readable.fromWeb(answer.body)
  if (output !== undefined) await pipeline(bytes, createWriteStream(output))
  else await pipeline(bytes, process.stdout, { end: false })
}

/** Names that the address has a meaning for itself. */
const ownNames = new Set(['project_id', 'environment', 'format'])

/** Slots with such a name are told apart by `slot.`. */
function inAddress([name, value]: [name: string, value: string]): [string, string] {
  return [ownNames.has(name) ? `slot.${name}` : name, value]
}

async function readBody(data: string): Promise<unknown> {
  const text =
    data === '-' ? await textOf(process.stdin) : data.startsWith('@') ? await readFile(data.slice(1), 'utf8') : data
  try {
    return JSON.parse(text) as unknown
  } catch (error) {
    throw new CommandFailure('usage', `--data is no JSON: ${error instanceof Error ? error.message : String(error)}`)
  }
}
