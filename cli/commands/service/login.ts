import { Command } from 'commander'
import { text } from 'node:stream/consumers'
import { does } from '../../context/command.ts'
import type { Context } from '../../context/context.ts'
import { CommandFailure } from '../../terminal/exit.ts'
import { forget, readStored, store } from '../../service/credentials.ts'
import { openManage } from '../../service/manage.ts'
import { endToken, signInByBrowser, signInByDevice } from '../../service/sign-in.ts'
import { askSecret } from '../../terminal/ask.ts'
import { hasBrowser, openBrowser } from '../../terminal/browser.ts'

type Options = { device?: boolean; token?: boolean }

export function loginCommand(): Command {
  const command = new Command('login')
    .description(
      'Signs in with your browser and keeps a management token for this address in ~/.config/sluice/credentials.yaml, which only you can read. It expires after 30 days and does no more than you may. Without a browser here it shows a code, which you type in one elsewhere. From a script: `sluice login < token`.',
    )
    .option('--device', 'show a code for a browser on another machine')
    .option('--token', 'ask for a management token that you have')
  return does<Options>(command, login)
}

async function login(context: Context, options: Options): Promise<void> {
  const { environment, url } = context
  const token = await tokenOf(context, options)
  if (token === '') {
    throw new CommandFailure('usage', 'There was no token.', {
      hint: '`sluice login --device` shows a code instead; the app makes tokens under Settings, Tokens.',
    })
  }
  await openManage(url, token).get('/v1/projects', { limit: 1 })
  const file = await store(environment, url, { token })
  if (context.json) context.printJson({ url, file })
  else context.print(`${context.style.good('✓')} ${url} takes it; kept in ${file}.`)
}

async function tokenOf(context: Context, { device, token }: Options): Promise<string> {
  const { environment, url, isInteractive } = context
  if (token === true && isInteractive) {
    return askSecret({ input: process.stdin, output: process.stderr }, `Management token for ${url}:`)
  }
  if (device !== true && !isInteractive) return (await text(process.stdin)).trim()
  if (device === true || !hasBrowser(environment)) {
    return signInByDevice(url, ({ address, code, complete }) => {
      process.stderr.write(`Open ${address} and enter ${context.noteStyle.bold(code)}, or open ${complete}\n`)
    })
  }
  return signInByBrowser(url, (address) => {
    context.note(`Sign in in the browser, at ${address}`)
    openBrowser(address, environment)
  })
}

export function logoutCommand(): Command {
  const command = new Command('logout').description(
    'Revokes the token that `sluice login` was given, and takes it and the API key of this address out of ~/.config/sluice/credentials.yaml. A token that you made yourself and a key stay good: Settings, Tokens and `sluice keys revoke` end them.',
  )
  return does(command, logout)
}

async function logout(context: Context): Promise<void> {
  const { environment, url, style } = context
  const { token } = await readStored(environment, url)
  // The file is cleared in any case: the token can still be revoked in the app.
  const isRevoked = token !== undefined && (await endToken(url, token).catch(() => false))
  const wasKept = await forget(environment, url)
  if (context.json) return context.printJson({ url, forgotten: wasKept, revoked: isRevoked })
  if (!wasKept) return context.print(`Nothing was kept for ${url}.`)
  context.print(`${style.good('✓')} Nothing is kept for ${url} now${isRevoked ? ', and the token is revoked' : ''}.`)
  if (token !== undefined && !isRevoked) {
    context.note('The token stays good: revoke it under Settings, Tokens, where it was made.')
  }
}
