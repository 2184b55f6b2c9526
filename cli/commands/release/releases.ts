import { Command } from 'commander'
import type { z } from 'zod'
import type { releaseEntry } from '../../../api/releases.ts'
import { does } from '../../context/command.ts'
import type { Context } from '../../context/context.ts'
import { CommandFailure } from '../../terminal/exit.ts'
import { releaseText, type Release } from './plan-text.ts'
import { timeText } from '../../terminal/texts.ts'

type Options = { environment?: string; limit?: string }
type Entry = z.output<typeof releaseEntry>

export function releasesCommand(): Command {
  const command = new Command('releases')
    .argument('[release]', 'the id of one')
    .option('-e, --environment <name>', 'only of this environment')
    .option('-n, --limit <count>', 'how many', '20')
  return does<Options>(command, releases)
}

async function releases(context: Context, options: Options, [id]: string[]): Promise<void> {
  const manage = await context.manage()
  const path = `/v1/projects/${await context.projectId()}/releases`
  if (id !== undefined) {
    const one = await manage.get<Release>(`${path}/${encodeURIComponent(id)}`)
    if (context.json) context.printJson(one)
    else context.print(`${headline(one)}\n\n${releaseText(one, context.style)}`)
    return
  }
  const filter = options.environment === undefined ? {} : { environment: options.environment }
  const all = await manage.list<Entry>(path, filter, Number(options.limit ?? 20))
  if (context.json) context.printJson(all)
  else context.print(listText(all, context))
}

function headline({ id, environment, act, created_at: at, created_by: by, message }: Release): string {
  return `${id ?? ''}  ${act} to ${environment}, ${timeText(at)} by ${by}${message === null ? '' : `: ${message}`}`
}

/** Two lines each: which it is, and what it did and why. */
function listText(all: Entry[], { style }: Context): string {
  if (all.length === 0) return 'There are no releases yet.'
  const width = Math.max(...all.map((each) => each.environment.length))
  return all
    .map((each) => {
      const name = each.status === 'rolled_back' ? style.dim(each.id) : style.bold(each.id)
      const state = each.status === 'released' ? '' : style.warn(`, ${each.status.replace('_', ' ')}`)
      const place = each.environment.padEnd(width)
      const head = `${name}  ${timeText(each.created_at)}  ${place}  ${each.act} by ${each.created_by}${state}`
      const more = each.query_count > 3 ? ` and ${each.query_count - 3} more` : ''
      const why = each.message === null ? '' : `: ${each.message}`
      return `${head}\n    ${style.dim(`${each.query_names.slice(0, 3).join(', ')}${more}${why}`)}`
    })
    .join('\n')
}

const lookedAt = 50

/** The newest release of an environment that is as wanted. */
export async function newestRelease(
  context: Context,
  environment: string,
  { wanted, none }: { wanted: (entry: Entry) => boolean; none: string },
): Promise<string> {
  const manage = await context.manage()
  const path = `/v1/projects/${await context.projectId()}/releases`
  const recent = await manage.list<Entry>(path, { environment }, lookedAt)
  const found = recent.find(wanted)
  if (found !== undefined) return found.id
  throw new CommandFailure('usage', `There is no release in ${environment} ${none}.`, {
    hint: '`sluice releases` lists them; name one.',
  })
}
