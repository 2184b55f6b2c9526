import { Command } from 'commander'
import type { z } from 'zod'
import type { apiKey, createdApiKey, reach } from '../../../api/keys.ts'
import { does } from '../../context/command.ts'
import type { Context } from '../../context/context.ts'
import { CommandFailure } from '../../terminal/exit.ts'
import { store } from '../../service/credentials.ts'
import { table, titled } from '../../terminal/table.ts'
import { agree } from '../release/promote.ts'
import { timeText } from '../../terminal/texts.ts'

type Key = z.output<typeof apiKey>
type CreatedKey = z.output<typeof createdApiKey>
type Reach = z.output<typeof reach>
type NewKey = { environment?: string[]; query?: string[]; plan?: string; expires?: string; save?: boolean }

export function keysCommand(): Command {
  const command = new Command('keys')
  command.addCommand(does(new Command('list').summary('the keys that reach this project'), listKeys), {
    isDefault: true,
  })
  const create = new Command('create')
    .summary('make a key')
    .description('Makes a key for this project. Its secret is shown once, or kept for `sluice call` with --save.')
    .argument('<name>', 'what people call it')
    .option('-e, --environment <name...>', 'only these environments; all unless given')
    .option('-q, --query <name...>', 'only these queries; all unless given')
    .option('--plan <name>', 'how much it may do')
    .option('--expires <moment>', 'until when, such as 2027-01-31T00:00:00Z')
    .option('--save', 'keep it for calls from this machine')
  command.addCommand(does<NewKey>(create, createKey))
  const rotate = ofKey('rotate', 'give a key a new secret').option(
    '--grace <seconds>',
    'how long the old one is good',
    '86400',
  )
  command.addCommand(does<{ grace?: string }>(rotate, rotateKey))
  command.addCommand(does(ofKey('disable', 'let nobody use a key for now'), actOn('disable')))
  command.addCommand(does(ofKey('enable', 'let a disabled key be used again'), actOn('enable')))
  command.addCommand(
    does<{ yes?: boolean }>(ofKey('revoke', 'end a key for good').option('-y, --yes', 'do not ask'), revokeKey),
  )
  command.addCommand(does(ofKey('reach', 'what a key may call'), showReach))
  return command
}

function ofKey(name: string, summary: string): Command {
  return new Command(name).summary(summary).argument('<key>', 'the id or the name of a key')
}

async function keysOf(context: Context): Promise<Key[]> {
  const manage = await context.manage()
  const projectId = await context.projectId()
  const all = await manage.list<Key>('/v1/api-keys', {})
  return all.filter(({ permissions }) => permissions.some((each) => [projectId, '*'].includes(each.project_id)))
}

async function listKeys(context: Context): Promise<void> {
  const keys = await keysOf(context)
  if (context.json) context.printJson(keys)
  else if (keys.length === 0) context.print('There are no keys. sluice keys create <name> makes one.')
  else {
    const columns = titled('Key', 'Name', 'Secret', 'Plan', 'Status', 'Last used')
    const rows = keys.map((key) => [
      key.id,
      key.name,
      `${key.start}…${key.last4}`,
      key.plan,
      key.status === 'active' ? context.style.good(key.status) : context.style.warn(key.status),
      timeText(key.last_used_at) || 'never',
    ])
    context.print(table(columns, rows, context.width))
  }
}

async function createKey(context: Context, options: NewKey, [name = '']: string[]): Promise<void> {
  const manage = await context.manage()
  const permission = {
    project_id: await context.projectId(),
    environments: options.environment ?? '*',
    ...(options.query !== undefined && { queries: options.query }),
  }
  const key = await manage.send<CreatedKey>('POST', '/v1/api-keys', {
    name,
    permissions: [permission],
    ...(options.plan !== undefined && { plan: options.plan }),
    ...(options.expires !== undefined && { expires_at: options.expires }),
  })
  await tellSecret(context, key, options.save === true)
}

async function tellSecret(context: Context, key: CreatedKey, save: boolean): Promise<void> {
  const file = save ? await store(context.environment, context.url, { key: key.secret }) : undefined
  if (context.json) context.printJson(key)
  else {
    const { print, style } = context
    print(`${style.good('✓')} ${key.name} (${key.id})`)
    print(file === undefined ? `\n  ${style.bold(key.secret)}\n\nIt is shown only now.` : `  kept in ${file}`)
  }
}

async function rotateKey(context: Context, options: { grace?: string }, [named = '']: string[]): Promise<void> {
  const manage = await context.manage()
  const { id } = await findKey(context, named)
  const body = { grace_seconds: Number(options.grace ?? 86_400) }
  await tellSecret(context, await manage.send<CreatedKey>('POST', `/v1/api-keys/${id}/rotate`, body), false)
}

function actOn(act: 'disable' | 'enable') {
  return async (context: Context, _options: object, [named = '']: string[]): Promise<void> => {
    const manage = await context.manage()
    const { id } = await findKey(context, named)
    const key = await manage.send<Key>('POST', `/v1/api-keys/${id}/${act}`)
    if (context.json) context.printJson(key)
    else context.print(`${key.name} is ${key.status}.`)
  }
}

async function revokeKey(context: Context, options: { yes?: boolean }, [named = '']: string[]): Promise<void> {
  const manage = await context.manage()
  const { id, name } = await findKey(context, named)
  if (options.yes !== true) await agree(context, `Revoke ${name} for good?`)
  await manage.send('DELETE', `/v1/api-keys/${id}`)
  if (context.json) context.printJson({ id, status: 'revoked' })
  else context.print(`${name} is revoked.`)
}

async function showReach(context: Context, _options: object, [named = '']: string[]): Promise<void> {
  const manage = await context.manage()
  const { id } = await findKey(context, named)
  const answer = await manage.get<{ data: Reach[] }>(`/v1/api-keys/${id}/reach`)
  if (context.json) context.printJson(answer.data)
  else {
    for (const { project_name: project, environments } of answer.data) {
      context.print(context.style.bold(project))
      for (const { name, deployed } of environments) {
        context.print(
          `  ${name.padEnd(14)}${deployed.length === 0 ? context.style.dim('nothing') : deployed.join(', ')}`,
        )
      }
    }
  }
}

async function findKey(context: Context, named: string): Promise<Key> {
  const found = (await keysOf(context)).filter((key) => key.id === named || key.name === named)
  const [key, ...others] = found.filter(({ status }) => status !== 'revoked')
  if (key === undefined)
    throw new CommandFailure('usage', `There is no key ${named}.`, { hint: 'sluice keys lists them.' })
  if (others.length === 0) return key
  const hint = `Say which by its id: ${[key, ...others].map(({ id }) => id).join(', ')}`
  throw new CommandFailure('usage', `Several keys are called ${named}.`, { hint })
}
