import { Command } from 'commander'
import { does } from '../context/command.ts'
import { readDefinition, type Context } from '../context/context.ts'
import { exitCodes } from '../terminal/exit.ts'
import { withQuery } from '../service/manage.ts'
import { planText, type Plan, type Release } from './release/plan-text.ts'

type Options = { environment?: string; prune?: boolean; detailedExitCode?: boolean }

export function planCommand(): Command {
  const command = new Command('plan')
    .summary('show what the files would change')
    .description(
      'Reads the files and asks the service what putting them in place and releasing them would do: what is created, changed and deleted, what breaks callers, and which questions would move. Changes nothing.',
    )
    .option('-e, --environment <name>', 'where it would be released')
    .option('--no-prune', 'leave alone what the files do not name')
    .option('--detailed-exit-code', 'end with 8 where there is something to release')
  return does<Options>(command, plan)
}

async function plan(context: Context, options: Options): Promise<void> {
  const environment = environmentOf(context, options)
  const planned = await makePlan(context, { environment, prune: options.prune ?? true })
  if (context.json) context.printJson({ environment, ...planned.plan, pending: planned.pending })
  else {
    context.print(`\nPlan for ${context.style.bold(environment)}\n`)
    context.print(planText(planned.plan, context.style))
    if (planned.pending.length > 0) context.print(pendingText(planned.pending))
  }
  if (options.detailedExitCode === true && !isEmpty(planned)) process.exitCode = exitCodes.changes
}

export type Planned = {
  plan: Plan
  /** Queries whose draft is as the files say and does not answer there yet. */
  pending: string[]
}

export function environmentOf(context: Context, options: { environment?: string }): string {
  return options.environment ?? context.settings.environment ?? 'production'
}

/** What the files would change, and what is left to release from before. */
export async function makePlan(
  context: Context,
  { environment, prune }: { environment: string; prune: boolean },
): Promise<Planned> {
  const { definition } = await readDefinition(context)
  const [manage, projectId] = [await context.manage(), await context.projectId()]
  const progress = context.progress()
  progress.show(null, 'asking the service what would change')
  try {
    const path = `/v1/projects/${projectId}/definition`
    const plan = await manage.send<Plan>('PUT', withQuery(path, { check: true, prune, environment }), definition)
    const release = await manage.send<Release>('POST', `/v1/projects/${projectId}/releases`, {
      environment,
      queries: 'all',
      check: true,
    })
    const changed = new Set(plan.plan.filter(({ action }) => action !== 'unchanged').map(({ name }) => name))
    const pending = release.queries.map(({ name }) => name).filter((name) => !changed.has(name))
    return { plan, pending }
  } finally {
    progress.end()
  }
}

export function isEmpty({ plan, pending }: Planned): boolean {
  return pending.length === 0 && plan.plan.every(({ action }) => action === 'unchanged')
}

export function pendingText(pending: string[]): string {
  const many = pending.length > 5 ? ` and ${pending.length - 5} more` : ''
  return `  Saved before and not yet released there: ${pending.slice(0, 5).join(', ')}${many}`
}
