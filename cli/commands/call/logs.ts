import { Command } from 'commander'
import { setTimeout as wait } from 'node:timers/promises'
import type { z } from 'zod'
import type { requestEntry } from '../../../api/usage.ts'
import { does } from '../../context/command.ts'
import type { Context } from '../../context/context.ts'
import { timeText } from '../../terminal/texts.ts'

type Options = {
  follow?: boolean
  limit?: string
  environment?: string
  query?: string
  key?: string
  status?: string
  failed?: boolean
}
type Entry = z.output<typeof requestEntry>

const reconnectMs = 1_000

export function logsCommand(): Command {
  const command = new Command('logs')
    .option('-F, --follow', 'go on with those that come, until Ctrl-C')
    .option('-n, --limit <count>', 'how many of the newest', '20')
    .option('-e, --environment <name>', 'only there')
    .option('-q, --query <name>', 'only of this query')
    .option('-k, --key <id>', 'only by this key')
    .option('--status <code>', 'only those answered so')
    .option('--failed', 'only those that failed')
  return does<Options>(command, logs)
}

async function logs(context: Context, options: Options): Promise<void> {
  const manage = await context.manage()
  const path = `/v1/projects/${await context.projectId()}/requests`
  const filter = {
    environment: options.environment,
    query: options.query,
    key_id: options.key,
    status: options.status,
    outcome: options.failed === true ? 'failed' : undefined,
  }
  const recent = (await manage.list<Entry>(path, filter, Number(options.limit ?? 20))).toReversed()
  if (context.json && options.follow !== true) {
    context.printJson(recent)
    return
  }
  const show = (entry: Entry): void => {
    if (context.json) process.stdout.write(`${JSON.stringify(entry)}\n`)
    else context.print(line(entry, context))
  }
  recent.forEach(show)
  if (options.follow !== true) {
    if (recent.length === 0) context.print('There are no such calls.')
    return
  }
  const seen = new Set(recent.map(({ id }) => id))
  for (;;) {
    for await (const { event, data } of manage.events(`${path}/events`, filter)) {
      if (event === 'gap') context.note(context.noteStyle.warn('… some are left out; they are in the log'))
      else if (event === 'request' && !seen.has((data as Entry).id)) show(data as Entry)
    }
    // The stream ends now and then.
    await wait(reconnectMs)
  }
}

function line(entry: Entry, { style }: Context): string {
  const paint = entry.status >= 500 ? style.bad : entry.status >= 400 ? style.warn : style.good
  const what = entry.question === null ? (entry.query ?? '') : `${entry.query ?? 'nobody'}  “${entry.question}”`
  const why = entry.error === null ? '' : style.bad(`  ${entry.reason ?? entry.error}`)
  const time = `${Math.round(entry.total_ms)} ms`.padStart(8)
  return `${style.dim(timeText(entry.at))}  ${paint(String(entry.status))}  ${time}  ${(entry.environment ?? '').padEnd(11)}  ${what}${why}`
}
