import { Command } from 'commander'
import { watch } from 'node:fs'
import { does } from '../../context/command.ts'
import type { Context } from '../../context/context.ts'
import { CommandFailure } from '../../terminal/exit.ts'
import { isProjectFile } from '../../project/index.ts'
import { isEmpty, makePlan, type Planned } from '../plan.ts'
import { planText } from '../release/plan-text.ts'
import { agree } from '../release/promote.ts'
import { apply } from '../release/release.ts'

type Options = { environment?: string; yes?: boolean; prune?: boolean }

/** Editors write a file in several steps. */
const quietMs = 150

export function devCommand(): Command {
  const command = new Command('dev')
    .summary('release to development on every save')
    .description(
      'Watches the files. At each save it puts them in place and releases them to the environment, whatever breaks there, and says what changed or what is wrong. Ctrl-C ends it.',
    )
    .option('-e, --environment <name>', 'where to release', 'development')
    .option('-y, --yes', 'do not ask before the first release')
    .option('--no-prune', 'leave alone what the files do not name')
  return does<Options>(command, dev)
}

async function dev(context: Context, options: Options): Promise<void> {
  const environment = options.environment ?? 'development'
  const prune = options.prune ?? true
  const first = await makePlan(context, { environment, prune })
  if (!isEmpty(first)) {
    context.note(`\n${planText(first.plan, context.noteStyle)}\n`)
    if (options.yes !== true) await agree(context, `Release this to ${environment}, and every save from now on?`)
  }
  const sync = async (): Promise<void> => {
    const planned = await makePlan(context, { environment, prune })
    if (isEmpty(planned)) return
    const done = await apply(context, { environment, prune, options: { force: true } })
    tell(context, planned, done.release.id)
  }
  // Watched from before the first release: a save while it runs is one to release too.
  const changes = watchFiles(context.folder)
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

function tell({ json, print, style }: Context, { plan, pending }: Planned, id: string | null): void {
  const changed = plan.plan.filter(({ action }) => action !== 'unchanged')
  if (json) {
    process.stdout.write(
      `${JSON.stringify({ release: id, changed: changed.map(({ kind, name, action }) => ({ kind, name, action })) })}\n`,
    )
    return
  }
  const time = new Date().toTimeString().slice(0, 8)
  const names = [...changed.map(({ name, action }) => (action === 'delete' ? `-${name}` : name)), ...pending]
  print(`${style.dim(time)}  ${style.good('✓')} ${names.join(', ')}${id === null ? '' : style.dim(`  ${id}`)}`)
  for (const entry of changed) {
    for (const change of entry.release?.changes ?? []) {
      if (change.level === 'breaking') print(`          ${style.warn('breaks:')} ${change.message}`)
    }
  }
}

/** What is wrong with a file is no reason to stop watching: the next save may put it right. */
function tellError({ json, note, noteStyle }: Context, error: unknown): void {
  if (!(error instanceof CommandFailure) || error.exit === 'credentials') throw error
  if (json) process.stderr.write(`${JSON.stringify({ message: error.message, ...error.fields })}\n`)
  else note(`${noteStyle.bad('✗')} ${error.message}${error.hint === undefined ? '' : `\n${error.hint}`}`)
}

/** `next` waits for a burst of changes to files of the project that began after the last one it told of. */
function watchFiles(folder: string): { next(): Promise<void>; close(): void } {
  let hasChanged: () => void = () => undefined
  let changed = new Promise<void>((resolve) => (hasChanged = resolve))
  let timer: NodeJS.Timeout | undefined
  const watcher = watch(folder, { recursive: true }, (_event, name) => {
    if (name === null || !isProjectFile(name.replaceAll('\\', '/'))) return
    clearTimeout(timer)
    timer = setTimeout(() => hasChanged(), quietMs)
  })
  return {
    next: async () => {
      await changed
      changed = new Promise<void>((resolve) => (hasChanged = resolve))
    },
    close: () => watcher.close(),
  }
}
