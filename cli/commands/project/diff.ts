import { Command } from 'commander'
import type { Definition } from '../../../api/definition.ts'
import { does } from '../../context/command.ts'
import type { Context } from '../../context/context.ts'
import { readFiles } from '../../context/files.ts'
import { CommandFailure, exitCodes } from '../../terminal/exit.ts'
import { timeText } from '../../terminal/texts.ts'
import { projectFile, writeProject } from '../../project/index.ts'
import { lastChanges, type LastChange } from './last-changes.ts'
import { diffLines } from '../release/plan-text.ts'

type Options = { from?: string; to?: string }

export function diffCommand(): Command {
  const command = new Command('diff')
    .description(
      'Without an argument, line by line what `sluice pull` would change, who changed it on the service and when; ends with 1 where something differs. With a query, two of its versions: by default the newest one and the draft.',
    )
    .argument('[query]', 'a query, for its versions')
    .option('--from <version>', 'an older version')
    .option('--to <version>', 'a newer one, or draft')
  return does<Options>(command, diff)
}

async function diff(context: Context, options: Options, [query]: string[]): Promise<void> {
  if (query !== undefined) return diffVersions(context, query, options)
  const [manage, projectId] = [await context.manage(), await context.projectId()]
  const local = await readFiles(context.folder)
  if (!local.has(projectFile)) {
    throw new CommandFailure('files', `There is no ${projectFile} here.`, {
      hint: 'Run `sluice init` or `sluice pull`.',
    })
  }
  const remote = writeProject(await manage.get<Definition>(`/v1/projects/${projectId}/definition`), local)
  const paths = [...new Set([...local.keys(), ...remote.keys()])].toSorted((a, b) => (a < b ? -1 : 1))
  const differing = paths.filter((path) => local.get(path) !== remote.get(path))
  if (differing.length > 0) process.exitCode = exitCodes.failed
  const changes = differing.length === 0 ? new Map<string, LastChange>() : await lastChanges(context, differing)
  if (context.json) {
    const shown = differing.map((path) => ({
      path,
      service: remote.get(path) ?? null,
      file: local.get(path) ?? null,
      last_change: changes.get(path) ?? null,
    }))
    context.printJson({ files: shown })
    return
  }
  if (differing.length === 0) context.print('The files say what the service has.')
  for (const path of differing) {
    const [service, file] = [remote.get(path), local.get(path)]
    const note = service === undefined ? '  (only in the files)' : file === undefined ? '  (only in the service)' : ''
    const last = changes.get(path)
    const who = last === undefined || service === undefined ? '' : `  (changed by ${last.by} on ${timeText(last.at)})`
    context.print(`${context.style.bold(path)}${context.style.dim(`${note}${who}`)}`)
    context.print(diffLines(service ?? '', file ?? '', context.style).join('\n'))
    context.print('')
  }
}

async function diffVersions(context: Context, query: string, options: Options): Promise<void> {
  const manage = await context.manage()
  const path = `/v1/projects/${await context.projectId()}/queries/${encodeURIComponent(query)}`
  const from = options.from ?? (await newestVersion(context, path))
  const answer = await manage.get<{ from: number; to: number | 'draft'; diff: string; replaced?: string[] }>(
    `${path}/diff`,
    {
      from,
      to: options.to ?? 'draft',
    },
  )
  if (context.json) context.printJson(answer)
  else context.print(answer.diff === '' ? 'They are the same.' : paint(answer.diff, context))
  // Older services compare every line, and say nothing of it.
  const { replaced = [] } = answer
  if (replaced.length > 0) context.note(`Replaced, with too many lines to compare: ${replaced.join(', ')}.`)
}

async function newestVersion(context: Context, path: string): Promise<number> {
  const manage = await context.manage()
  const [newest] = await manage.list<{ version: number }>(`${path}/versions`, {}, 1)
  if (newest === undefined) throw new CommandFailure('usage', 'It has no versions yet: it was never deployed.')
  return newest.version
}

function paint(patch: string, { style }: Context): string {
  return patch
    .split('\n')
    .map((line) => (line.startsWith('+') ? style.good(line) : line.startsWith('-') ? style.bad(line) : line))
    .join('\n')
}
