import { broken, notJson } from './json-tokens.ts'
import { createValueReader } from './json-value.ts'
import { createKeyShapes } from './key-shapes.ts'

/** Learns what rows hold that stand one a line. */
export function createRowReader(maxDepth: number) {
  const shapes = createKeyShapes()
  const reader = createValueReader(shapes, maxDepth)
  let offset = 0

  function read(line: Buffer): void {
    try {
      reader.begin(shapes.rows, 0)
      const end = reader.run(line, 0, line.length, true)
      const isWhole = reader.isDone() && (end === line.length || line.toString('latin1', end).trim() === '')
      if (!isWhole) throw broken('A line is not one JSON value', end)
      offset += line.length + 1
    } catch (error) {
      throw notJson(error, offset)
    }
  }

  return { read, shape: shapes.rows }
}
