import { type FileHandle } from 'node:fs/promises'
import { createLineReader } from '../text/lines.ts'
import { createRowWriter, mostRowBytes } from '../text/row-file.ts'

const readersBytes = 8_388_608

type Zip = { columns: FileHandle; starts: Map<string, number>; rowCount: number; rows: FileHandle; base: number }

/**
 * Lists of one length, written one element a line and list after list, become rows with one element of each. Answers
 * how long the longest row is.
 */
export async function zipColumns({ columns, starts, rowCount, rows, base }: Zip): Promise<number> {
  const writer = createRowWriter(rows, base, await mostRowBytes(columns))
  // Many columns share one budget of memory: the wider the table, the smaller each reader's buffer.
  const bufferBytes = Math.max(512, Math.min(65_536, Math.floor(readersBytes / starts.size)))
  const readers = [...starts].map(([name, from], index) => ({
    lead: `${index === 0 ? '{' : ','}${JSON.stringify(name)}:`,
    lines: createLineReader(columns, { from, bufferBytes }),
  }))
  let maxBytes = 0
  for (let row = 0; row < rowCount; row += 1) {
    const start = writer.position()
    for (const { lead, lines } of readers) {
      const element = lines.next() ?? (await lines.read())
      writer.text(lead)
      if (element !== null) writer.copy(element)
    }
    writer.text('}\n')
    maxBytes = Math.max(maxBytes, writer.position() - start)
    if (writer.isFull()) await writer.drain()
  }
  await writer.drain()
  return maxBytes
}
