import { Command } from 'commander'
import { does } from '../../context/command.ts'
import type { Context } from '../../context/context.ts'
import { callHeaders } from '../../context/calls.ts'

type Options = { environment?: string }

export function mcpCommand(): Command {
  const command = new Command('mcp')
    .description(
      'For programs that start MCP servers themselves: hands what they write on standard input to /mcp of the service, and the answers back. Needs an API key. Whoever speaks HTTP does without it.',
    )
    .option('-e, --environment <name>', 'which queries are tools')
  return does<Options>(command, mcp)
}

async function mcp(context: Context, { environment }: Options): Promise<void> {
  const headers = await callHeaders(context, environment)
  // The protocol library is loaded by this command alone.
  const { bridgeMcp } = await import('../../service/mcp-bridge.ts')
  const note = (text: string): void => void process.stderr.write(`${text}\n`)
  await bridgeMcp({ url: new URL('/mcp', context.url), headers, note })
}
