import { readdirSync, readFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { parse } from 'yaml'
import { catalogEntry, type CatalogEntry } from '../../api/catalog.ts'

/** Names and types of fields: `string:date-time?`, `[item]`, or an object; `*` is any name. */
export type Fields = string | Fields[] | { [name: string]: Fields }

export type Parameter = {
  in: 'query' | 'path' | 'header' | 'cookie'
  type: string
  list?: boolean
  required?: boolean
  minimum?: number
  maximum?: number
  default?: string | number | boolean
  values?: Array<string | number>
  fields?: string[]
}

type Scheme = {
  type: string
  scheme?: string
  in?: string
  name?: string
  flows?: Record<string, { tokenUrl?: string }>
}

export type Operation = {
  servers?: string[]
  security?: string[][]
  parameters: Record<string, Parameter>
  body?: Fields
  headers?: string[]
  answer?: Fields
}

export type ContractDocument = {
  path: string
  version: string
  servers: string[]
  authentication: Record<string, Scheme>
  operations: Record<string, Operation>
}

export type Contract = { documents: ContractDocument[] }

const folder = join(import.meta.dirname, '../../catalog')

export const entryNames = readdirSync(folder)
  .filter((file) => file.endsWith('.yaml'))
  .map((file) => basename(file, '.yaml'))

export function readEntry(name: string): CatalogEntry {
  return catalogEntry.parse(parse(readFileSync(join(folder, `${name}.yaml`), 'utf8')))
}

export function readContract(name: string): Contract {
  return JSON.parse(readFileSync(join(folder, 'contracts', `${name}.json`), 'utf8')) as Contract
}

/** The operation of a table, with the document that it is in. */
export function operationOf(
  contract: Contract,
  { document = '', operation }: CatalogEntry['tables'][string],
): { document: ContractDocument; operation: Operation } | undefined {
  const holder = contract.documents.find(
    ({ path, operations }) => Object.hasOwn(operations, operation) && (document === '' || path === document),
  )
  const found = holder?.operations[operation]
  return holder === undefined || found === undefined ? undefined : { document: holder, operation: found }
}

/** The fields at a path of an answer: `data.items`, `*.order`, `rates.{currency}`. */
export function fieldsAt(fields: Fields | undefined, path: string): Fields | undefined {
  const names = path === '' ? [] : path.split('.')
  return names.reduce<Fields | undefined>((at, name) => {
    if (at === undefined || typeof at === 'string') return undefined
    if (Array.isArray(at)) return name === '*' ? at[0] : undefined
    return at[name] ?? (/^\{\w+\}$/.test(name) ? Object.values(at)[0] : at['*'])
  }, fields)
}

/** The fields of one row; undefined where there are no rows. */
export function rowFields(operation: Operation, rows: string): { fields: Fields; isList: boolean } | undefined {
  const at = fieldsAt(operation.answer, rows)
  if (at === undefined) return undefined
  if (rows.includes('*') || rows.includes('{')) return { fields: at, isList: true }
  if (Array.isArray(at)) return at[0] === undefined ? undefined : { fields: at[0], isList: true }
  if (typeof at === 'string') return undefined
  const lists = Object.entries(at).filter(([, each]) => Array.isArray(each))
  const isZipped = rows !== '' && lists.length === Object.keys(at).length
  if (!isZipped) return { fields: at, isList: false }
  return {
    fields: Object.fromEntries(lists.map(([name, each]) => [name, (each as Fields[])[0] ?? 'any'])),
    isList: true,
  }
}
