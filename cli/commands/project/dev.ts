import { Command } from 'commander'
import { readdir, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { does } from '../../context/command.ts'
import type { Context } from '../../context/context.ts'
import { CommandFailure } from '../../terminal/exit.ts'
import { folders, isProjectFile } from '../../project/index.ts'
import { isEmpty, makePlan, pruneOf, refuseShared, sharedTables, showPlan, type Planned } from '../release/plan.ts'
import { agree } from '../release/promote.ts'
import { apply } from '../release/release.ts'
import { servePrivately } from './private-drafts.ts'

type Options = {
  environment?: string
  yes?: boolean
  prune?: boolean
  shared?: boolean
  private?: boolean
  port: string
}

/** Between two looks at the files. A save is released when two looks in a row see the same. */
const lookMs = 200

export function devCommand(): Command {
  const command = new Command('dev')
    .description(
      'Watches the files. At each save it applies them and releases them to the environment, whatever breaks there, and says what changed or what is wrong. With --private nothing is saved or released: queries answer as the files have them, on this machine alone. Ctrl-C ends it.',
    )
    .option('--private', 'answer queries of the files on this machine, and change nothing on the service')
    .option('--port <port>', 'of --private', '4600')
    .option('-e, --environment <name>', 'where to release', 'development')
    .option('-y, --yes', 'do not ask before the first release')
    .option('--shared', 'also where it changes tables that other environments read')
    .option('--prune', 'also delete tables that the files do not name, with their data')
    .option('--no-prune', 'leave alone what the files do not name')
  return does<Options>(command, dev)
}

async function dev(context: Context, options: Options): Promise<void> {
  if (options.private === true) return devPrivately(context, options)
  const environment = options.environment ?? 'development'
  const prune = pruneOf(options)
  const first = await makePlan(context, { environment, prune })
  if (!isEmpty(first)) {
    showPlan({ ...context, print: context.note, style: context.noteStyle }, first)
    refuseShared(first, options)
    if (options.yes !== true) await agree(context, `Release this to ${environment}, and every save from now on?`)
  }
  // Agreeing at the terminal, below the list of tables that would change elsewhere, includes these.
  const isShared = options.shared === true || (options.yes !== true && sharedTables(first).length > 0)
  const sync = async (): Promise<void> => {
    const planned = await makePlan(context, { environment, prune })
    if (isEmpty(planned)) return
    refuseShared(planned, { yes: true, shared: isShared })
    const done = await apply(context, { environment, prune, options: { force: true } })
    report(context, planned, done.release.id)
  }
  await atEverySave(context, sync)
}

/** Nobody else sees any of it: the service runs the queries and keeps nothing. */
async function devPrivately(context: Context, { port }: Options): Promise<void> {
  if (!/^\d{1,5}$/.test(port) || Number(port) > 65_535) {
    throw new CommandFailure('usage', `--port ${port} is no port.`)
  }
  const serving = await servePrivately(context, Number(port))
  context.note(`Queries of these files answer at ${context.noteStyle.bold(serving.address)}/v1/queries/<name>.`)
  await atEverySave(context, () => serving.reload()).finally(() => serving.close())
}

async function atEverySave(context: Context, sync: () => Promise<void>): Promise<void> {
  // Watched from before the first time: a save while it runs counts too.
  const changes = await watchFiles(context.folder)
  try {
    for (let isFirst = true; ; isFirst = false) {
      await sync().catch((error: unknown) => tellError(context, error))
      if (isFirst) context.note(context.noteStyle.dim(`Watching ${context.folder}; Ctrl-C ends it.`))
      await changes.next()
    }
  } finally {
    changes.close()
  }
}

function report({ json, print, style }: Context, { plan, pending }: Planned, id: string | null): void {
  const changed = plan.plan.filter(({ action }) => action !== 'unchanged')
  if (json) {
    process.stdout.write(
      `${JSON.stringify({ release: id, changed: changed.map(({ kind, name, action }) => ({ kind, name, action })) })}\n`,
    )
    return
  }
  const time = new Date().toTimeString().slice(0, 8)
  const saved = pending.queries.map(({ name }) => name)
  const names = [...changed.map(({ name, action }) => (action === 'delete' ? `-${name}` : name)), ...saved]
  print(`${style.dim(time)}  ${style.good('✓')} ${names.join(', ')}${id === null ? '' : style.dim(`  ${id}`)}`)
  for (const entry of changed) {
    for (const change of entry.release?.changes ?? []) {
      if (change.level === 'breaking') print(`          ${style.warn('breaks:')} ${change.message}`)
    }
  }
}

/** Reports a mistake in a file and goes on watching: the next save may fix it. */
function tellError({ json, note, noteStyle }: Context, error: unknown): void {
  if (!(error instanceof CommandFailure) || error.exit === 'credentials') throw error
  if (json) process.stderr.write(`${JSON.stringify({ message: error.message, ...error.fields })}\n`)
  else note(`${noteStyle.bad('✗')} ${error.message}${error.hint === undefined ? '' : `\n${error.hint}`}`)
}

/**
 * Looks at the files again and again: `next` resolves once they differ from what they were when it resolved last.
 * Watching them would be blind after the first save of an editor, or of git, that puts a new file in the place of the
 * old one, and in folders that are shared with a container.
 */
async function watchFiles(folder: string): Promise<{ next(): Promise<void>; close(): void }> {
  let shown = await signatureOf(folder)
  let last = shown
  let wake: () => void = () => undefined
  const look = async (): Promise<void> => {
    const now = await signatureOf(folder)
    const isStill = now === last
    last = now
    if (isStill && now !== shown) wake()
  }
  const timer = setInterval(() => void look(), lookMs)
  return {
    next: () =>
      new Promise((resolve) => {
        wake = () => {
          wake = () => undefined
          shown = last
          resolve()
        }
      }),
    close: () => clearInterval(timer),
  }
}

/** Changes with every save, whichever way the file is written. */
async function signatureOf(folder: string): Promise<string> {
  const found = await Promise.all(
    ['', ...folders].map(async (inside) => {
      const names = await readdir(join(folder, inside)).catch(() => [])
      const paths = names.map((name) => (inside === '' ? name : `${inside}/${name}`)).filter(isProjectFile)
      return Promise.all(paths.map((path) => signatureOfFile(folder, path)))
    }),
  )
  return found.flat().toSorted().join('\n')
}

async function signatureOfFile(folder: string, path: string): Promise<string> {
  const seen = await stat(join(folder, path), { bigint: true }).catch(() => undefined)
  return seen === undefined ? '' : `${path} ${seen.ino} ${seen.size} ${seen.mtimeNs}`
}
