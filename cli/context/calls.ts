import { openTransport, type Transport } from '../../clients/typescript/index.ts'
import type { Context } from './context.ts'
import { CommandFailure } from '../terminal/exit.ts'

/** The query endpoints, with the key of whoever calls. */
export async function openCalls(context: Context, environment: string | undefined): Promise<Transport> {
  const secret = await keyOf(context)
  return openTransport({
    url: context.url,
    secret,
    timeoutMs: 600_000,
    headers: await addressHeaders(context, environment),
  })
}

/** The request of a call, for code that sends it otherwise. */
export async function callHeaders(context: Context, environment: string | undefined): Promise<Record<string, string>> {
  return { authorization: `Bearer ${await keyOf(context)}`, ...(await addressHeaders(context, environment)) }
}

async function keyOf(context: Context): Promise<string> {
  const secret = await context.key()
  if (secret !== undefined) return secret
  throw new CommandFailure('credentials', 'Calls need an API key.', {
    hint: 'Set SLUICE_API_KEY, or make and keep one: sluice keys create mine --save',
  })
}

async function addressHeaders(context: Context, environment: string | undefined): Promise<Record<string, string>> {
  const project = await context.projectId().catch(() => undefined)
  return {
    ...(project !== undefined && { 'x-sluice-project': project }),
    ...(environment !== undefined && { 'x-sluice-environment': environment }),
  }
}
