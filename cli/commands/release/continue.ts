import { Command } from 'commander'
import { does } from '../../context/command.ts'
import type { Context } from '../../context/context.ts'
import { environmentOf } from './plan.ts'
import type { Release } from './plan-text.ts'
import { newestRelease } from './releases.ts'
import { percentOf } from './trial-options.ts'

type Options = { environment?: string; percent?: string }

export function continueCommand(): Command {
  const command = new Command('continue')
    .description(
      'A canary or shadow serves everyone from now on, or with --percent that share of the keys. Without an id, the newest one of the environment that is tried out. `sluice rollback` takes it back instead.',
    )
    .argument('[release]', 'the id of a release')
    .option('-e, --environment <name>', 'whose newest trial is meant')
    .option('-p, --percent <percent>', 'the share from now on', '100')
  return does<Options>(command, goOn)
}

async function goOn(context: Context, options: Options, [named]: string[]): Promise<void> {
  const [manage, projectId] = [await context.manage(), await context.projectId()]
  const percent = percentOf('--percent', options.percent ?? '100')
  const isTriedOut = ({ status }: { status: string }): boolean => status === 'canary' || status === 'shadow'
  const id =
    named ??
    (await newestRelease(context, environmentOf(context, options), {
      wanted: isTriedOut,
      none: 'that is a canary or shadow',
    }))
  const path = `/v1/projects/${projectId}/releases/${encodeURIComponent(id)}/continue`
  const done = await manage.send<Release>('POST', path, { percent })
  if (context.json) return context.printJson(done)
  const share = done.status === 'released' ? 'answers everyone' : `answers ${percent} % of the keys`
  context.print(`${context.style.good('✓')} Release ${context.style.bold(id)} ${share} in ${done.environment}.`)
}
