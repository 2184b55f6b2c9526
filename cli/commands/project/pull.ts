import { Command } from 'commander'
import { mkdir, rm, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import type { Definition } from '../../../api/definition.ts'
import { does } from '../../context/command.ts'
import type { Context } from '../../context/context.ts'
import { readFiles } from '../../context/files.ts'
import { CommandFailure } from '../../terminal/exit.ts'
import { writeProject, type ProjectFiles } from '../../project/index.ts'
import { confirm } from '../../terminal/ask.ts'

type Options = { yes?: boolean; project?: string; url?: string }

export function pullCommand(): Command {
  const command = new Command('pull')
    .description(
      'Fetches the definition of the project and writes it as files. Files that say the same stay as they are, with their comments; secrets read ***, or stay ${NAME} where a file says so. Asks before it overwrites or removes a file.',
    )
    .option('-y, --yes', 'do not ask')
  return does<Options>(command, pull)
}

async function pull(context: Context, options: Options): Promise<void> {
  const manage = await context.manage()
  const projectId = await context.projectId()
  const { folder } = context
  const written = await readFiles(folder)
  const definition = await manage.get<Definition>(`/v1/projects/${projectId}/definition`)
  const head = { ...(options.url !== undefined && { url: options.url }), project: projectId }
  const files = writeProject(definition, written, head)
  const changes = changesOf(await readFiles(folder), files)
  if (changes.length === 0) {
    if (context.json) context.printJson({ changes: [] })
    else context.print('The files say what the service has.')
    return
  }
  report(context, changes)
  const loses = changes.filter(({ act }) => act !== 'new')
  if (loses.length > 0 && options.yes !== true) await agree(context, loses.length)
  for (const { path, act } of changes) {
    if (act === 'removed') await rm(join(folder, path))
    else {
      await mkdir(dirname(join(folder, path)), { recursive: true })
      await writeFile(join(folder, path), files.get(path) ?? '')
    }
  }
  if (context.json) context.printJson({ changes })
  else context.print(`${context.style.good('✓')} ${changes.length} ${changes.length === 1 ? 'file' : 'files'} written.`)
}

type Change = { path: string; act: 'new' | 'changed' | 'removed' }

function changesOf(old: ProjectFiles, fresh: ProjectFiles): Change[] {
  const written = [...fresh].flatMap(([path, text]): Change[] => {
    const before = old.get(path)
    if (before === undefined) return [{ path, act: 'new' }]
    return before === text ? [] : [{ path, act: 'changed' }]
  })
  const removed = [...old.keys()].filter((path) => !fresh.has(path)).map((path): Change => ({ path, act: 'removed' }))
  return [...written, ...removed].toSorted((left, right) => (left.path < right.path ? -1 : 1))
}

function report({ json, print, style }: Context, changes: Change[]): void {
  if (json) return
  const marks = { new: style.good('+'), changed: style.warn('~'), removed: style.bad('-') }
  for (const { path, act } of changes) print(`  ${marks[act]} ${path}`)
}

async function agree(context: Context, count: number): Promise<void> {
  const what = count === 1 ? 'one file' : `${count} files`
  if (!context.isInteractive) {
    throw new CommandFailure('usage', `This overwrites or removes ${what}.`, {
      hint: 'Add --yes to overwrite without asking.',
    })
  }
  const isAgreed = await confirm({ input: process.stdin, output: process.stderr }, `Overwrite or remove ${what}?`)
  if (!isAgreed) throw new CommandFailure('usage', 'Nothing was written.')
}
