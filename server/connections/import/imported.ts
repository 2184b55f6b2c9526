import { httpConfiguration, pagination as paginationSchema, type Pagination } from '../../../api/connections.ts'
import { type Failure, invalidField } from '../../failure.ts'

/** One thing of a document that can be called. */
export type Operation = { id: string; method: string; url: string; summary: string }

/** A connection as a document describes it; `notes` say what is missing or was left out, and why. */
export type Imported = {
  name: string
  configuration: Record<string, unknown>
  pagination: Partial<Pagination> | null
  notes: string[]
}

/** Reader of one kind of document. */
export type DocumentReader = {
  operations: Operation[]
  take: (id: string) => Imported | null
}

export type Fields = Record<string, unknown>

export function isRecord(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

export function record(value: unknown): Fields {
  return isRecord(value) ? value : {}
}

export function list(value: unknown): unknown[] {
  return Array.isArray(value) ? (value as unknown[]) : []
}

export function text(value: unknown): string {
  if (typeof value === 'string') return value
  return typeof value === 'number' || typeof value === 'boolean' ? String(value) : ''
}

export const methods = ['get', 'post', 'put', 'patch', 'delete', 'head', 'options']

/** Headers that a client sets by itself, or that belong to the program which exported the document. */
const ownHeaders =
  /^(:.*|host|content-length|connection|accept-encoding|transfer-encoding|user-agent|referer|origin|sec-.*|dnt|pragma|cache-control|te|upgrade.*|if-.*|priority)$/i

export function headersOf(pairs: Array<[name: string, value: string]>): Fields {
  return Object.fromEntries(pairs.filter(([name, value]) => name !== '' && value !== '' && !ownHeaders.test(name)))
}

/** A document names things that are long, and many times: what is said of one operation is not. */
const maxConfigurationChars = 262_144
const maxNotes = 100
const maxNoteChars = 1_000

/** Checks the form of what was read and names what does not fit: a document may hold anything. */
export function checked(imported: Imported): Imported {
  const shape = httpConfiguration.partial({ url: true }).safeParse(imported.configuration)
  const issue = shape.success ? undefined : shape.error.issues[0]
  if (issue !== undefined) {
    throw refusal(`The operation asks for something that cannot be sent: ${issue.path.join('.')} ${issue.message}`)
  }
  if (JSON.stringify(imported.configuration).length > maxConfigurationChars) {
    throw refusal(`The operation makes a request of more than ${maxConfigurationChars} characters`)
  }
  const { pagination } = imported
  const name = imported.name.slice(0, maxNoteChars)
  const notes = imported.notes.slice(0, maxNotes).map((note) => note.slice(0, maxNoteChars))
  return { ...imported, name, notes, pagination: paginationSchema.safeParse(pagination).success ? pagination : null }
}

export const notImportable = 'The document is neither an OpenAPI document nor a Postman collection'

export function refusal(message: string, field = 'text'): Failure {
  return invalidField(field, message, { message: `${message}.` })
}
