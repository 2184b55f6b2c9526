import { Command } from 'commander'
import { does } from '../../context/command.ts'
import type { Context } from '../../context/context.ts'
import { CommandFailure } from '../../terminal/exit.ts'
import { confirm } from '../../terminal/ask.ts'
import { releaseText, type Release } from './plan-text.ts'

type Options = { yes?: boolean; force?: boolean; prune?: boolean; message?: string; check?: boolean }

export function promoteCommand(): Command {
  const command = new Command('promote')
    .description('Shows what would change in <to>, asks, and releases what <from> has there as one.')
    .argument('<from>', 'an environment')
    .argument('<to>', 'another')
    .option('-y, --yes', 'do not ask')
    .option('-m, --message <text>', 'why, for the history')
    .option('--prune', 'also take out of <to> what <from> does not have')
    .option('--force', 'although something breaks callers, or takes questions of other queries')
    .option('--check', 'only show it')
  return does<Options>(command, promote)
}

async function promote(context: Context, options: Options, [from, to]: string[]): Promise<void> {
  const [manage, projectId] = [await context.manage(), await context.projectId()]
  const body = {
    from,
    to,
    prune: options.prune === true,
    force: options.force === true,
    ...(options.message !== undefined && { message: options.message }),
  }
  const path = `/v1/projects/${projectId}/promote`
  const checked = await manage.send<Release>('POST', path, { ...body, check: true })
  if (!context.json) context.print(`\n${from} → ${to}\n\n${releaseText(checked, context.style)}\n`)
  if (checked.queries.length === 0) {
    if (context.json) context.printJson(checked)
    else context.print(`${context.style.good('✓')} ${to} has what ${from} has.`)
    return
  }
  if (options.check === true) {
    if (context.json) context.printJson(checked)
    return
  }
  if (options.yes !== true) await agree(context, `Promote ${from} to ${to}?`)
  const done = await manage.send<Release>('POST', path, body)
  if (context.json) context.printJson(done)
  else context.print(`${context.style.good('✓')} Release ${context.style.bold(done.id ?? '')} answers in ${to}.`)
}

export async function agree(context: Context, question: string): Promise<void> {
  if (!context.isInteractive) {
    throw new CommandFailure('usage', 'Not a terminal, so nobody can confirm.', {
      hint: 'Add --yes to release without asking.',
    })
  }
  if (await confirm({ input: process.stdin, output: process.stderr }, question)) return
  throw new CommandFailure('usage', 'Nothing was changed.')
}
