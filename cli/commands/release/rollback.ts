import { Command } from 'commander'
import { does } from '../../context/command.ts'
import type { Context } from '../../context/context.ts'
import { environmentOf } from './plan.ts'
import { releaseText, type Release } from './plan-text.ts'
import { agree } from './promote.ts'
import { newestRelease } from './releases.ts'

type Options = { environment?: string; yes?: boolean; force?: boolean; message?: string; check?: boolean }

export function rollbackCommand(): Command {
  const command = new Command('rollback')
    .description(
      'What answered before the release answers again, all of it at once, as a release of its own. Without an id, the newest release of the environment.',
    )
    .argument('[release]', 'the id of a release')
    .option('-e, --environment <name>', 'whose newest release is meant')
    .option('-y, --yes', 'do not ask')
    .option('-m, --message <text>', 'why, for the history')
    .option('--force', 'although later releases have changed the same queries')
    .option('--check', 'only show it')
  return does<Options>(command, rollback)
}

async function rollback(context: Context, options: Options, [named]: string[]): Promise<void> {
  const [manage, projectId] = [await context.manage(), await context.projectId()]
  const newest = { wanted: canBeTakenBack, none: 'to roll back' }
  const id = named ?? (await newestRelease(context, environmentOf(context, options), newest))
  const path = `/v1/projects/${projectId}/releases/${encodeURIComponent(id)}/rollback`
  const body = {
    force: options.force === true,
    ...(options.message !== undefined && { message: options.message }),
  }
  const checked = await manage.send<Release>('POST', path, { ...body, check: true })
  const isTriedOut = checked.status === 'canary' || checked.status === 'shadow'
  if (!context.json) {
    const what = isTriedOut ? `No longer ${checked.status} in` : `Back before ${id} in`
    context.print(`\n${what} ${checked.environment}\n\n${releaseText(checked, context.style)}\n`)
  }
  if (options.check === true || checked.queries.length === 0) {
    if (context.json) context.printJson(checked)
    else if (checked.queries.length === 0) context.print('There is nothing to roll back.')
    return
  }
  if (options.yes !== true) await agree(context, `Roll ${checked.environment} back?`)
  const done = await manage.send<Release>('POST', path, body)
  if (context.json) context.printJson(done)
  else context.print(`${context.style.good('✓')} ${doneText(done, id)}`)
}

/** Ends a trial, or names the release that undoes one that served everyone. */
function doneText({ id, environment }: Release, wanted: string): string {
  if (id === wanted) return `${wanted} is rolled back: every key in ${environment} is served by the version before.`
  return `Release ${id ?? ''} rolls ${wanted} back.`
}

/** Whether it changed something and was not rolled back. */
function canBeTakenBack({ act, status }: { act: string; status: string }): boolean {
  return act !== 'rollback' && status !== 'rolled_back'
}
