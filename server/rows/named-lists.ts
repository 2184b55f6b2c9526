import { type FileHandle } from 'node:fs/promises'
import { elementsAt } from './json/json-repair.ts'
import { createLineReader } from './text/lines.ts'
import { createRowWriter, mostRowBytes } from './text/row-file.ts'
import { kinds } from './json/shape.ts'
import type { Shape } from './json/shape-tree.ts'

/** Names that answers use for the list of their columns, and for the list of their rows. */
const columnKeys = ['columns', 'column_names', 'columnNames', 'fields', 'headers', 'header', 'cols', 'meta', 'names']
const rowKeys = ['rows', 'data', 'values', 'records', 'results', 'items']

/**
 * Where an object says its columns once and its rows as lists of values, as databases do: the keys of both. The columns
 * are names, or objects with a `name`.
 */
export function namedLists(shape: Shape): { columns: string; rows: string } | null {
  const columns = columnKeys.find((key) => isNames(shape.fields.get(key)))
  const rows = rowKeys.find((key) => {
    const lists = shape.fields.get(key)
    const seen = lists?.items?.kinds ?? 0
    return lists?.kinds === kinds.array && (seen === kinds.array || seen === 0)
  })
  return columns === undefined || rows === undefined ? null : { columns, rows }
}

function isNames(shape: Shape | undefined): boolean {
  if (shape?.kinds !== kinds.array || shape.items === null) return false
  const { kinds: seen, fields } = shape.items
  return seen === kinds.text || (seen === kinds.object && fields.get('name')?.kinds === kinds.text)
}

/** The names from rows that are one name each; null where they are not fit to be keys. */
export async function readNames(rows: FileHandle, most: number): Promise<string[] | null> {
  const names: string[] = []
  const lines = createLineReader(rows, { from: 0 })
  for (let line = await lines.read(); line !== null; line = lines.next() ?? (await lines.read())) {
    const { value, name = value } = JSON.parse(line.toString()) as { value?: unknown; name?: unknown }
    if (typeof name !== 'string' || names.length >= most) return null
    names.push(name)
  }
  return new Set(names).size === names.length ? names : null
}

const wrapBytes = '{"value":'.length

type Naming = { lists: FileHandle; names: string[]; rows: FileHandle; base: number }

/** Rows `{"value":[…]}` become rows with a key for each element. What is beyond the names is called by its place. */
export async function nameElements({ lists, names, rows, base }: Naming): Promise<void> {
  const writer = createRowWriter(rows, base, await mostRowBytes(lists))
  const leads = names.map((name, index) => `${index === 0 ? '' : ','}${JSON.stringify(name)}:`)
  const taken = new Set(names)
  const lines = createLineReader(lists, { from: 0 })
  for (let line = await lines.read(); line !== null; line = lines.next() ?? (await lines.read())) {
    writer.text('{')
    for (const [index, element] of elementsAt(line, wrapBytes).elements.entries()) {
      writer.text(leads[index] ?? `${index === 0 ? '' : ','}"${placeName(index, taken)}":`)
      writer.copy(element)
    }
    writer.text('}\n')
    if (writer.isFull()) await writer.drain()
  }
  await writer.drain()
}

/** Never a name that the answer itself gives: two values of one name would be one. */
function placeName(index: number, taken: ReadonlySet<string>): string {
  let name = `column_${index + 1}`
  while (taken.has(name)) name += '_'
  return name
}
