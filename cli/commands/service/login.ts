import { Command } from 'commander'
import { text } from 'node:stream/consumers'
import { does } from '../../context/command.ts'
import type { Context } from '../../context/context.ts'
import { CommandFailure } from '../../terminal/exit.ts'
import { forget, store } from '../../service/credentials.ts'
import { openManage } from '../../service/manage.ts'
import { askSecret } from '../../terminal/ask.ts'

export function loginCommand(): Command {
  const command = new Command('login')
    .summary('keep a management token for a service')
    .description(
      'Asks for a management token, tries it, and keeps it for this address in ~/.config/sluice/credentials.yaml, which only you can read. From a script: `sluice login < token`.',
    )
  return does(command, login)
}

async function login(context: Context): Promise<void> {
  const { environment, url } = context
  const token = context.isInteractive
    ? await askSecret({ input: process.stdin, output: process.stderr }, `Management token for ${url}:`)
    : (await text(process.stdin)).trim()
  if (token === '') {
    throw new CommandFailure('usage', 'There was no token.', { hint: 'Make one in the app under Settings, Tokens.' })
  }
  await openManage(url, token).get('/v1/projects', { limit: 1 })
  const file = await store(environment, url, { token })
  if (context.json) context.printJson({ url, file })
  else context.print(`${context.style.good('✓')} ${url} takes it; kept in ${file}.`)
}

export function logoutCommand(): Command {
  const command = new Command('logout')
    .summary('forget the credentials of a service')
    .description(
      'Takes the management token and the API key of this address out of ~/.config/sluice/credentials.yaml. They stay good: `sluice keys revoke` and Settings, Tokens end them.',
    )
  return does(command, logout)
}

async function logout(context: Context): Promise<void> {
  const { environment, url } = context
  const wasKept = await forget(environment, url)
  if (context.json) return context.printJson({ url, forgotten: wasKept })
  context.print(wasKept ? `${context.style.good('✓')} Nothing is kept for ${url} now.` : `Nothing was kept for ${url}.`)
}
