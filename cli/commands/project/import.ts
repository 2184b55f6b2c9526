import { readFile } from 'node:fs/promises'
import type { z } from 'zod'
import type { curlImportAnswer, documentImportAnswer } from '../../../api/connections.ts'
import type { Context } from '../../context/context.ts'
import { readFiles } from '../../context/files.ts'
import { connectionFiles } from '../../project/index.ts'
import { CommandFailure } from '../../terminal/exit.ts'
import { table, titled } from '../../terminal/table.ts'

export type AddOptions = { as?: string; operation?: string }
type Document = z.output<typeof documentImportAnswer>
type Curl = z.output<typeof curlImportAnswer>
type Connection = { name: string; configuration: Record<string, unknown>; pagination: unknown; notes: string[] }

export type ImportedFiles = ReturnType<typeof connectionFiles> & { table: string; notes: string[] }

/** Whether a word is a curl command, an address, or a file of a document, and no entry of the catalog. */
export function isSource(word: string): boolean {
  return /^curl\s/.test(word) || /^https?:\/\//.test(word) || /\.(json|ya?ml)$/.test(word)
}

/** The files of one connection, made of a curl command or of an operation of an OpenAPI document or a collection. */
export async function importFiles(context: Context, source: string, options: AddOptions): Promise<ImportedFiles> {
  const found = /^curl\s/.test(source) ? await readCurl(context, source) : await readDocument(context, source, options)
  const name = options.as ?? tableName(found.name)
  if (!/^[a-z][a-z0-9_]*$/.test(name)) {
    throw new CommandFailure('usage', `${name} cannot be the name of a table: lower case letters, digits and _ only.`, {
      hint: 'Say another: --as orders',
    })
  }
  const { configuration: config, pagination, notes } = found
  return {
    ...connectionFiles({ table: name, config, pagination }, await readFiles(context.folder)),
    table: name,
    notes,
  }
}

async function readCurl(context: Context, command: string): Promise<Connection> {
  const manage = await context.manage()
  const { configuration, notes } = await manage.send<Curl>('POST', '/v1/http/import-curl', { command })
  const url = typeof configuration['url'] === 'string' ? configuration['url'] : ''
  const { pathname, hostname } = URL.canParse(url) ? new URL(url) : { pathname: '', hostname: 'table' }
  const last = pathname.split('/').findLast((part) => /[a-z]/i.test(part))
  return { name: last ?? hostname, configuration, pagination: null, notes }
}

async function readDocument(context: Context, source: string, { operation }: AddOptions): Promise<Connection> {
  const manage = await context.manage()
  const isAddress = /^https?:\/\//.test(source)
  const given = isAddress ? { url: source } : { text: await textOf(source) }
  const wanted = operation === undefined ? {} : { operation }
  const found = await manage.send<Document>('POST', '/v1/http/import', { ...given, ...wanted })
  if (found.connection !== null) return found.connection
  const rows = found.operations.map(({ id, method, url, summary }) => [id, method, url, summary])
  const columns = titled('Operation', 'Method', 'Address', 'What it does')
  if (!context.json) context.print(table(columns, rows, context.width))
  throw new CommandFailure('usage', 'Which operation is meant?', {
    hint: 'Say it with --operation, as it stands in the first column.',
    fields: { operations: found.operations },
  })
}

async function textOf(file: string): Promise<string> {
  return readFile(file, 'utf8').catch(() => {
    throw new CommandFailure('usage', `There is no file ${file}.`, {
      hint: 'Give a curl command in quotes, an address, a file, or an entry that `sluice add` lists.',
    })
  })
}

function tableName(name: string): string {
  const plain = name
    .replaceAll(/([a-z0-9])([A-Z])/g, '$1_$2')
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '_')
    .replaceAll(/^_|_$/g, '')
    .slice(0, 60)
  return /^[a-z]/.test(plain) ? plain : `table_${plain}`
}
