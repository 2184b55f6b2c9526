import type { Definition } from '../../../api/definition.ts'
import { readProject, type ProjectFiles } from '../../../cli/project/index.ts'

/** What the files of a project say; fails, with all of them, where something in them is wrong. */
export function readBack(files: ProjectFiles): Definition {
  const read = readProject(files, {})
  if ('problems' in read) throw new Error(`${JSON.stringify(read.problems)}\n${[...files].join('\n')}`)
  return read.definition
}
