import type { FileHandle } from 'node:fs/promises'
import { Failure } from '../failure.ts'
import { withColumns } from './each-member.ts'
import { createLineReader } from './text/lines.ts'
import { refuseRepeating } from './text/row-file.ts'

/** Included resources of one answer by type and id: what they are, and their attributes, as JSON. */
export type Resources = ReadonlyMap<string, string>

/** They are held while the rows of their page are read. */
const maxBytes = 67_108_864

type Pointer = { type?: unknown; id?: unknown }
const keyOf = ({ type, id }: Pointer) => JSON.stringify([type, id])

/** Numbers keep their digits. */
const { rawJSON } = JSON as unknown as { rawJSON: (text: string) => unknown }
const exact = (_key: string, value: unknown, context?: { source?: string }): unknown =>
  typeof value === 'number' && context?.source !== undefined ? rawJSON(context.source) : value

/** Resources that stand one a line. */
export async function readResources(file: FileHandle): Promise<Resources> {
  const resources = new Map<string, string>()
  const lines = createLineReader(file, { from: 0 })
  let bytes = 0
  for (let line = await lines.read(); line !== null; line = lines.next() ?? (await lines.read())) {
    bytes += line.length
    if (bytes > maxBytes) throw tooLarge()
    const text = line.toString()
    const { type, id, attributes } = JSON.parse(text, exact) as Pointer & { attributes?: object }
    resources.set(keyOf({ type, id }), JSON.stringify({ id, type, ...attributes }))
  }
  return resources
}

/** A row with what its relationships lead to, each in a column that is called after the relationship. */
export function withResources(line: Buffer, resources: Resources, most: number): Buffer {
  const row = JSON.parse(line.toString()) as Record<string, unknown> | null
  if (typeof row !== 'object' || row === null) return line
  const relationships = (row['relationships'] ?? {}) as Record<string, { data?: unknown } | null>
  let bytes = 0
  const columns = Object.entries(relationships).flatMap(([name, relationship]) => {
    const data = relationship?.data
    const pointers = (Array.isArray(data) ? data : [data]).filter((each) => typeof each === 'object' && each !== null)
    const found = pointers.flatMap((each) => {
      const resource = resources.get(keyOf(each as Pointer)) ?? []
      refuseRepeating((bytes += resource.length), most)
      return resource
    })
    if (found.length === 0) return []
    const column = Object.hasOwn(row, name) ? `${name}_included` : name
    return [`${JSON.stringify(column)}:${Array.isArray(data) ? `[${found.join(',')}]` : found.join(',')}`]
  })
  return columns.length === 0 ? line : Buffer.concat(withColumns(line, columns.join(',')))
}

function tooLarge(): Failure {
  const message = 'The resources that one answer includes have more than 64 MB. Ask for smaller pages.'
  return new Failure('upstream_error', { reason: 'too_large', message })
}
