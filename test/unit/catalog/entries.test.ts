import { describe, expect, test } from 'vitest'
import { definitionOf, missingInputs, usualPrefix } from '../../../api/catalog-definition.ts'
import { definition } from '../../../api/definition.ts'
import { entryNames, fieldsAt, operationOf, readContract, readEntry, rowFields } from '../../catalog/contract.ts'
import { valuesFor } from '../../catalog/stage.ts'

describe.each(entryNames)('%s', (name) => {
  const entry = readEntry(name)
  const contract = readContract(name)

  test('becomes a definition that the service takes', () => {
    const values = valuesFor(entry)
    expect(missingInputs(entry, values)).toEqual([])
    const made = definition.safeParse({
      definition: 1,
      ...definitionOf(name, entry, { prefix: usualPrefix(name), values }),
    })
    expect(made.error?.issues ?? []).toEqual([])
    // Each input is used, and nothing is asked for that is not there.
    const text = JSON.stringify({ ...entry, inputs: {} })
    for (const input of Object.keys(entry.inputs ?? {})) expect(text).toContain(`{${input}}`)
    const open = JSON.stringify(made.data)
      .replaceAll(/\{\{.*?\}\}/g, '')
      .match(/(?<=[:"/?=,])\{\w+\}/g)
    const named = new Set(Object.values(entry.tables).flatMap(({ rows = '' }) => rows.match(/\{\w+\}/g) ?? []))
    expect((open ?? []).filter((each) => !named.has(each))).toEqual([])
  })

  test('relies on nothing that its document does not have', () => {
    const missing: string[] = []
    for (const [table, given] of Object.entries(entry.tables)) {
      const found = operationOf(contract, given)
      if (found === undefined) {
        missing.push(`${table}: ${given.operation}`)
        continue
      }
      const row = rowFields(found.operation, given.rows ?? '')
      if (row === undefined) missing.push(`${table}: rows at ${given.rows}`)
      const chosen = Object.entries(found.operation.parameters).flatMap(([parameter, { values = [] }]) =>
        parameter.endsWith('fields') ? values : [],
      )
      const chosenFields = new Set(chosen)
      const hasField = (path: string): boolean => fieldsAt(row?.fields, path) !== undefined || chosenFields.has(path)
      const { load = { mode: 'replace' }, pagination } = given
      for (const field of [...(load.primary_key ?? []), ...(load.cursor === undefined ? [] : [load.cursor.field])]) {
        if (!hasField(field) && !/^\{\w+\}$/.test(`{${field}}`)) missing.push(`${table}: ${field}`)
        if (!hasField(field)) missing.push(`${table}: field ${field}`)
      }
      if (pagination !== undefined && 'path' in pagination) {
        const isThere =
          pagination.type === 'cursor' && pagination.from === 'last_row'
            ? hasField(pagination.path)
            : fieldsAt(found.operation.answer, pagination.path) !== undefined
        if (!isThere) missing.push(`${table}: ${pagination.path}`)
      }
      if (
        pagination?.has_more_path !== undefined &&
        fieldsAt(found.operation.answer, pagination.has_more_path) === undefined
      )
        missing.push(`${table}: ${pagination.has_more_path}`)
      if (pagination?.type === 'link_header' && found.operation.headers?.includes('link') !== true)
        missing.push(`${table}: header Link`)
    }
    expect(missing).toEqual([])
  })

  test('calls one of the servers of its document', () => {
    const wild = (address: string) =>
      address
        .replace(/\/$/, '')
        .replaceAll(/[.+?^$()|[\]\\]/g, '\\$&')
        .replaceAll(/\{\w+\}/g, '[^/]+')
    const servers = contract.documents.flatMap((each) => each.servers).filter((server) => /^https?:/.test(server))
    const { url } = entry.api
    const isOne = (server: string): boolean => {
      const both = [server.replace(/^http:/, 'https:'), url]
      return (
        both.some((one) => both.some((other) => one !== other && new RegExp(`^${wild(one)}`).test(other))) ||
        both[0]?.replace(/\/$/, '') === url
      )
    }
    expect([url, servers.length === 0 || servers.some(isOne) ? [] : servers]).toEqual([url, []])
  })
})
