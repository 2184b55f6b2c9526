import { Command } from 'commander'
import type { z } from 'zod'
import type { createdQueryLink, queryLink } from '../../../api/query-links.ts'
import { does } from '../../context/command.ts'
import type { Context } from '../../context/context.ts'
import { CommandFailure } from '../../terminal/exit.ts'
import { table, titled } from '../../terminal/table.ts'
import { timeText } from '../../terminal/texts.ts'
import { agree } from '../release/promote.ts'
import { valuesOf } from './values.ts'

type Link = z.output<typeof queryLink>
type CreatedLink = z.output<typeof createdQueryLink>
type NewLink = { environment?: string; expires: string; name?: string; perDay?: string }

/** Links by which a spreadsheet reads one query. */
export function linksCommand(): Command {
  const command = new Command('links')
  command.addCommand(
    does(new Command('list').summary('the links of this project').argument('[query]', 'only those to it'), listLinks),
    { isDefault: true },
  )
  const create = new Command('create')
    .summary('make a link that Excel, Google Sheets and read_csv open')
    .description('Makes a link to a deployed query with the given values. Who has the link reads the rows.')
    .argument('<query>', 'the name of a query')
    .argument('[name=value...]', 'values of its slots')
    .option('-e, --environment <name>', 'where it is deployed', 'production')
    .option('--expires <when>', 'days from now, or a moment such as 2027-01-31T00:00:00Z', '30')
    .option('--name <text>', 'how it is listed')
    .option('--per-day <number>', 'calls a day')
  command.addCommand(does<NewLink>(create, createLink))
  const revoke = new Command('revoke').summary('revoke a link').argument('<link>', 'the id of a link')
  command.addCommand(does<{ yes?: boolean }>(revoke.option('-y, --yes', 'do not ask'), revokeLink))
  command.addCommand(does(new Command('on').summary('allow links to the queries of this project'), allow(true)))
  command.addCommand(does(new Command('off').summary('let no link answer'), allow(false)))
  return command
}

async function pathOf(context: Context): Promise<string> {
  return `/v1/projects/${await context.projectId()}/query-links`
}

async function listLinks(context: Context, _options: object, [query]: string[]): Promise<void> {
  const manage = await context.manage()
  const links = await manage.list<Link>(await pathOf(context), query === undefined ? {} : { query })
  if (context.json) context.printJson(links)
  else if (links.length === 0) context.print('There are no links. sluice links create <query> makes one.')
  else {
    const columns = titled('Link', 'Query', 'Values', 'Status', 'Expires', 'Calls', 'Last used')
    const rows = links.map((link) => [
      link.id,
      link.query,
      Object.entries(link.parameters)
        .map(([name, value]) => `${name}=${String(value)}`)
        .join(' '),
      link.status === 'active' ? context.style.good(link.status) : context.style.warn(link.status),
      timeText(link.expires_at),
      String(link.calls),
      timeText(link.last_used_at) || 'never',
    ])
    context.print(table(columns, rows, context.width))
  }
}

async function createLink(context: Context, options: NewLink, [query = '', ...pairs]: string[]): Promise<void> {
  const manage = await context.manage()
  const parameters: Record<string, string | string[]> = {}
  for (const [name, value] of valuesOf(pairs)) {
    const before = parameters[name]
    parameters[name] = before === undefined ? value : [before, value].flat()
  }
  const link = await manage.send<CreatedLink>('POST', await pathOf(context), {
    query,
    environment: options.environment,
    parameters,
    expires_at: endOf(options.expires),
    ...(options.name !== undefined && { name: options.name }),
    ...(options.perDay !== undefined && { daily_quota: Number(options.perDay) }),
  })
  if (context.json) return context.printJson(link)
  const { print, style } = context
  print(`${style.good('✓')} ${link.name} (${link.id}), until ${timeText(link.expires_at)}`)
  print(`\n  ${style.bold(`${link.url}.csv`)}\n  ${style.bold(`${link.url}.xlsx`)}\n\nThe address is shown only now.`)
}

function endOf(expires: string): string {
  const days = /^\d+$/.test(expires) ? Number(expires) : undefined
  const end = days === undefined ? new Date(expires) : new Date(Date.now() + days * 86_400_000)
  if (!Number.isNaN(end.getTime())) return end.toISOString()
  throw new CommandFailure('usage', `--expires ${expires} is neither days nor a moment.`, {
    hint: 'Write --expires 30, or --expires 2027-01-31T00:00:00Z.',
  })
}

async function revokeLink(context: Context, options: { yes?: boolean }, [id = '']: string[]): Promise<void> {
  const manage = await context.manage()
  if (options.yes !== true) await agree(context, `Revoke ${id} for good?`)
  await manage.send('DELETE', `${await pathOf(context)}/${encodeURIComponent(id)}`)
  if (context.json) context.printJson({ id, status: 'revoked' })
  else context.print(`${id} is revoked.`)
}

function allow(isOn: boolean) {
  return async (context: Context): Promise<void> => {
    const manage = await context.manage()
    await manage.send('PATCH', `/v1/projects/${await context.projectId()}`, { query_links: isOn })
    if (context.json) context.printJson({ query_links: isOn })
    else context.print(isOn ? 'Links to queries may be made.' : 'No link to a query of this project answers any more.')
  }
}
