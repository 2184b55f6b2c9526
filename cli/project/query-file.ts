import { z } from 'zod'
import {
  definedModel,
  definedQuery,
  definedSchema,
  type DefinedModel,
  type DefinedQuery,
} from '../../api/definition.ts'
import type { Path, Problem } from './problem.ts'
import { isRecord } from './references.ts'
import { editYaml } from './edit-yaml.ts'
import { withoutDefaults } from './fields.ts'
import { issuesOf, readYaml, writeYaml } from './yaml-text.ts'

/**
 * A query is a file of SQL that begins with a comment of YAML:
 *
 *     /*---
 *     description: Revenue of a region
 *     slots:
 *       region: { type: string, required: true }
 *     ---*\/
 *     select …
 *
 * Slots are written by name; `required` stands with the slot. What that cannot say is written as the JSON Schema itself.
 */
const opening = '/*---\n'
const closing = '\n---*/\n'

export const queryHeader = definedQuery.omit({ name: true, sql: true, deployed: true })

const slotsOf = queryHeader.shape.slots

export function readQuery(file: string, name: string, written: string): { query?: DefinedQuery; problems: Problem[] } {
  const { value: query, problems } = readSqlFile(definedQuery, { file, name, written }, ({ slots, ...rest }, sql) => {
    // Left out where the SQL names some, the service infers them.
    const named = slots ?? (sql.includes('$') ? undefined : {})
    const given = { ...rest, ...(named !== undefined && { slots: slotsFromFile(named) }) }
    return { given, pathOf: (path) => pathInFile(path, slots) }
  })
  return { ...(query !== undefined && { query }), problems }
}

export const modelHeader = definedModel.omit({ name: true, sql: true })

/** A model is such a file, too, without slots. */
export function readModel(file: string, name: string, written: string): { model?: DefinedModel; problems: Problem[] } {
  const { value: model, problems } = readSqlFile(definedModel, { file, name, written }, (given) => {
    return { given, pathOf: (path) => path }
  })
  return { ...(model !== undefined && { model }), problems }
}

type Header = { given: Record<string, unknown>; pathOf: (path: Path) => Path }

/** SQL behind a comment of YAML, which holds the other fields. */
function readSqlFile<Value>(
  schema: z.ZodType<Value>,
  { file, name, written }: { file: string; name: string; written: string },
  headerOf: (fields: Record<string, unknown>, sql: string) => Header,
): { value?: Value; problems: Problem[] } {
  const text = plainLines(written)
  const end = endOfHeader(text)
  if (text.startsWith(opening) && end === -1) {
    const message = 'the comment at the top has no end: a line that is ---*/'
    return { problems: [{ file, line: 1, column: 1, message }] }
  }
  const header = end === -1 ? '' : text.slice(opening.length, end + 1)
  const body = end === -1 ? text : text.slice(end + closing.length)
  const yaml = readYaml(file, header, 2)
  if (yaml.problems.length > 0) return { problems: yaml.problems }
  const fields = yaml.data ?? {}
  if (!isRecord(fields)) return { problems: [yaml.problemAt([], 'the comment at the top must hold fields')] }
  const sql = body.endsWith('\n') ? body.slice(0, -1) : body
  const { given, pathOf } = headerOf(fields, sql)
  const parsed = schema.safeParse({ ...given, name, sql })
  if (parsed.success) return { value: parsed.data, problems: [] }
  const problems = issuesOf(parsed.error, pathOf).map(({ path, message }) => {
    if (path[0] === 'sql') return { file, line: lineAfter(text, end), column: 1, message: sqlMessage(body, message) }
    if (path[0] === 'name') return { file, line: null, column: null, message: `the name of the file ${message}` }
    return yaml.problemAt(path, message)
  })
  return { problems }
}

/** The line of a file at which its SQL begins. */
export function sqlLine(written: string): number {
  const text = plainLines(written)
  return lineAfter(text, endOfHeader(text))
}

/** The YAML above the SQL, null where there is none, and the SQL. */
export function splitSqlFile(written: string): { header: string | null; sql: string } {
  const text = plainLines(written)
  const end = endOfHeader(text)
  if (end === -1) return { header: null, sql: text }
  return { header: text.slice(opening.length, end + 1), sql: text.slice(end + closing.length) }
}

/** At the line break before the line that closes the comment; -1 without one. */
function endOfHeader(text: string): number {
  return text.startsWith(opening) ? text.indexOf(closing, opening.length - 1) : -1
}

function sqlMessage(body: string, message: string): string {
  return body.trim() === '' ? 'there is no SQL in this file' : message
}

function lineAfter(text: string, end: number): number {
  return end === -1 ? 1 : text.slice(0, end + closing.length).split('\n').length
}

/** `written`: what the file says now. Its comments, and its text where it says the same, stay. */
export function writeQuery(query: DefinedQuery, written?: string): string {
  const { name, sql, deployed: _, ...fields } = query
  const header: Record<string, unknown> = withoutDefaults(queryHeader, fields)
  if (fields.slots !== undefined) header['slots'] = slotsToFile(fields.slots)
  const isWithout = isRecord(header['slots']) && Object.keys(header['slots']).length === 0
  if (isWithout && !sql.includes('$')) delete header['slots']
  const old = written === undefined ? undefined : readQuery('', name, written).query
  return writeSqlFile(sql, header, { written, old: old && inFile(withoutText(old)), fresh: inFile(fields) })
}

/** A model as a file, with what somebody wrote around it. */
export function writeModel(model: DefinedModel, written?: string): string {
  const { name, sql, ...fields } = model
  const header: Record<string, unknown> = withoutDefaults(modelHeader, fields)
  if (isRecord(header['schema'])) header['schema'] = withoutDefaults(definedSchema, header['schema'])
  const old = written === undefined ? undefined : readModel('', name, written).model
  return writeSqlFile(sql, header, { written, old: old && withoutText(old), fresh: fields })
}

function withoutText<Value extends { name: string; sql: string; deployed?: unknown }>(value: Value) {
  const { name: _, sql: _sql, deployed: _deployed, ...fields } = value
  return fields
}

type HeaderSides = {
  written: string | undefined
  old: Record<string, unknown> | undefined
  fresh: Record<string, unknown>
}

function writeSqlFile(sql: string, header: Record<string, unknown>, { written, old, fresh }: HeaderSides): string {
  const yaml =
    written?.startsWith(opening) === true && old !== undefined
      ? changedHeader(written, { old, header, fresh })
      : writeHeader(header)
  // A text that begins like a comment of ours, or whose line ends would be taken for those of a checkout, needs one.
  const needsComment = sql.startsWith('/*---') || sql.includes('\r') || sql.startsWith('\uFEFF')
  if (yaml === '' && !needsComment) return `${sql}\n`
  return `${opening}${yaml === '' ? '\n' : yaml}${closing.slice(1)}${sql}\n`
}

function writeHeader(header: Record<string, unknown>): string {
  return Object.keys(header).length === 0 ? '' : closeNoComment(writeYaml(header), header)
}

function changedHeader(
  written: string,
  { old, header, fresh }: Record<'old' | 'header' | 'fresh', Record<string, unknown>>,
): string {
  const text = plainLines(written)
  const yaml = text.slice(opening.length, text.indexOf(closing, opening.length - 1) + 1)
  const edited = editYaml(yaml, { old, fresh, shown: header })
  return edited === yaml ? yaml : closeNoComment(edited, header)
}

/** Slots by name, as a file has them. */
function inFile(fields: Partial<DefinedQuery>): Record<string, unknown> {
  return { ...fields, ...(fields.slots !== undefined && { slots: slotsToFile(fields.slots) }) }
}

/** Within a comment of SQL nothing may end it; in quotes YAML has a second spelling of a slash. */
function closeNoComment(yaml: string, header: Record<string, unknown>): string {
  if (!yaml.includes('*/')) return yaml
  return JSON.stringify(header, null, 2).replaceAll('*/', '*\\/').concat('\n')
}

function slotsFromFile(slots: unknown): unknown {
  if (!isRecord(slots) || isWholeSchema(slots)) return slots
  const properties = Object.entries(slots).map(([name, slot]) => {
    if (!isRecord(slot)) return [name, slot]
    const { required: _, ...schema } = slot
    return [name, schema]
  })
  const required = Object.entries(slots).flatMap(([name, slot]) =>
    isRecord(slot) && slot['required'] !== undefined && slot['required'] !== false ? [name] : [],
  )
  return { properties: Object.fromEntries(properties) as unknown, required }
}

/** A slot that is called `type` has a schema for its value, never a text. */
function isWholeSchema(slots: Record<string, unknown>): boolean {
  return slots['type'] === 'object'
}

function slotsToFile(slots: NonNullable<DefinedQuery['slots']>): unknown {
  const byName = Object.fromEntries(
    Object.entries(slots.properties).map(([name, slot]) => [
      name,
      slots.required.includes(name) ? { ...slot, required: true } : slot,
    ]),
  )
  const again = slotsOf.safeParse(slotsFromFile(byName))
  const isEqual = again.success && JSON.stringify(again.data) === JSON.stringify(slots)
  return isEqual ? byName : slots
}

/** A problem of the JSON Schema, at the place in the file that it came from. */
function pathInFile(path: Path, slots: unknown): Path {
  if (path[0] !== 'slots' || (isRecord(slots) && isWholeSchema(slots))) return path
  return path[1] === 'properties' ? ['slots', ...path.slice(2)] : ['slots']
}

/** Whether a checkout has given every line an end of another system. */
function plainLines(written: string): string {
  const text = written.startsWith('\uFEFF') ? written.slice(1) : written
  return /(?<!\r)\n/.test(text) ? text : text.replaceAll('\r\n', '\n')
}

/** The comment at the top, for editors: as the schema of one, with slots as a file has them. */
export const queryHeaderFile = queryHeader.extend({
  slots: z
    .union([slotsOf, z.record(z.string(), z.looseObject({ type: z.string(), required: z.boolean().optional() }))])
    .optional()
    .meta({ description: 'By name, each with `required: true` where a call must have it; or a whole JSON Schema.' }),
})
