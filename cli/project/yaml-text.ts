import { isMap, isNode, isPair, LineCounter, parseDocument, stringify, type Document } from 'yaml'
import type { z } from 'zod'
import type { Path, Problem } from './problem.ts'

/** A text of YAML, read, with the places of what it says. */
export type YamlText = {
  file: string
  /** Undefined where it cannot be read. */
  data: unknown
  problems: Problem[]
  problemAt: (path: Path, message: string) => Problem
}

/** `firstLine`: where the text begins in its file. */
export function readYaml(file: string, text: string, firstLine = 1): YamlText {
  const lines = new LineCounter()
  const document = parseDocument(text, { lineCounter: lines, prettyErrors: false })
  const at = (offset: number): { line: number; column: number } => {
    const { line, col } = lines.linePos(offset)
    return { line: line + firstLine - 1, column: col }
  }
  const problems = document.errors.map((error): Problem => ({
    file,
    ...at(error.pos[0]),
    message: `is no YAML: ${error.message}`,
  }))
  const data = problems.length === 0 ? readData(document, file, problems) : undefined
  return {
    file,
    data,
    problems,
    problemAt: (path, message) => ({ file, ...at(offsetOf(document, path)), message }),
  }
}

/** A document can be without an error and yet name an anchor so often that it is not to be unfolded. */
function readData(document: Document, file: string, problems: Problem[]): unknown {
  try {
    return document.toJS() as unknown
  } catch (error) {
    const message = `is no YAML: ${error instanceof Error ? error.message : String(error)}`
    problems.push({ file, line: null, column: null, message })
    return undefined
  }
}

/** Where a path begins, by its key where it has one; of a path that is not there, what is nearest. */
function offsetOf(document: Document, path: Path): number {
  for (let length = path.length; length > 0; length -= 1) {
    const key = path[length - 1]
    const parent = document.getIn(path.slice(0, length - 1), true)
    if (isMap(parent)) {
      const pair = parent.items.find((item) => isPair(item) && String(item.key) === String(key))
      const node = pair?.key
      if (isNode(node) && node.range) return node.range[0]
    }
    const node = document.getIn(path.slice(0, length), true)
    if (isNode(node) && node.range) return node.range[0]
  }
  return document.contents?.range?.[0] ?? 0
}

/** Schema errors of some data, each in one line of its own. `inFile`: where the file has what the data has. */
export function issuesOf(
  error: z.ZodError,
  inFile: (path: Path) => Path = (path) => path,
): Array<{ path: Path; message: string }> {
  return error.issues.flatMap((issue): Array<{ path: Path; message: string }> => {
    const path = inFile(issue.path)
    if (issue.code === 'unrecognized_keys') {
      return issue.keys.map((key) => ({ path: [...path, key], message: `${key} is no field here` }))
    }
    const name = path.length === 0 ? '' : `${path.join('.')}: `
    return [{ path, message: `${name}${lowerFirst(issue.message)}` }]
  })
}

function lowerFirst(sentence: string): string {
  return sentence.charAt(0).toLowerCase() + sentence.slice(1)
}

/** A line that tells editors which schema a file has. */
export function schemaLine(schema: string): string {
  return `# yaml-language-server: $schema=${schema}\n`
}

export function writeYaml(data: unknown): string {
  return stringify(data, { lineWidth: 0, aliasDuplicateObjects: false })
}
