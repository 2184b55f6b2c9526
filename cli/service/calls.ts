import { openTransport, type Transport } from '../../clients/typescript/index.ts'
import type { Context } from '../context.ts'
import { CommandFailure } from '../exit.ts'

/** The query endpoints, with the key of whoever calls. */
export async function openCalls(context: Context, environment: string | undefined): Promise<Transport> {
  const secret = await context.key()
  if (secret === undefined) {
    throw new CommandFailure('credentials', 'Calls need an API key.', {
      hint: 'Set SLUICE_API_KEY, or make and keep one: sluice keys create mine --save',
    })
  }
  const project = await context.projectId().catch(() => undefined)
  return openTransport({
    url: context.url,
    secret,
    timeoutMs: 600_000,
    headers: {
      ...(project !== undefined && { 'x-sluice-project': project }),
      ...(environment !== undefined && { 'x-sluice-environment': environment }),
    },
  })
}
