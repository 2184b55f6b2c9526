import { Command } from 'commander'
import { does } from '../../context/command.ts'
import type { Context } from '../../context/context.ts'
import { openBrowser } from '../../terminal/browser.ts'

type Options = { print?: boolean }

export function openCommand(): Command {
  const command = new Command('open')
    .description('Opens the app at this project. Without a screen, or with --print, it says the address.')
    .argument('[query]', 'at a query')
    .option('--print', 'only say the address')
  return does<Options>(command, open)
}

async function open(context: Context, { print }: Options, [query]: string[]): Promise<void> {
  const project = `/p/${encodeURIComponent(await context.projectId())}`
  const path = query === undefined ? project : `${project}/build/queries/${encodeURIComponent(query)}`
  const address = new URL(path, context.url).href
  if (context.json) return context.printJson({ url: address })
  context.print(address)
  if (print === true || !context.isInteractive) return
  openBrowser(address, context.environment)
}
