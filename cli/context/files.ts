import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import {
  folders,
  isProjectFile,
  projectFile,
  readProject,
  type Problem,
  type ProjectFiles,
  type ReadProject,
} from '../project/index.ts'
import { CommandFailure } from '../terminal/exit.ts'
import type { Context } from './context.ts'

/** The texts of the project's files. */
export async function readFiles(folder: string): Promise<ProjectFiles> {
  const names = [projectFile]
  for (const inside of folders) {
    const entries = await readdir(join(folder, inside)).catch(() => [])
    names.push(...entries.map((name) => `${inside}/${name}`))
  }
  const files: ProjectFiles = new Map()
  for (const name of names.filter(isProjectFile)) {
    const text = await readFile(join(folder, name), 'utf8').catch(() => undefined)
    if (text !== undefined) files.set(name, text)
  }
  return files
}

/** The definition in the files, or an end that names every line that is wrong. */
export async function readDefinition(context: Pick<Context, 'folder' | 'environment'>): Promise<ReadProject> {
  const read = readProject(await readFiles(context.folder), context.environment)
  if ('definition' in read) return read
  throw filesFailure(read.problems)
}

export function filesFailure(problems: Problem[]): CommandFailure {
  const lines = problems.map(({ file, line, column, message }) => {
    const place = line === null ? file : `${file}:${line}:${column ?? 1}`
    return `  ${place}  ${message}`
  })
  const count = problems.length === 1 ? 'is one mistake' : `are ${problems.length} mistakes`
  return new CommandFailure('files', [`There ${count} in the files:`, ...lines].join('\n'), { fields: { problems } })
}
