import { spawnSync } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { freePort, pocketBase, serverProcess } from './server.ts'

type Ticket = { id: string; title: string; updated: string }

const [email, password] = ['operator@shop.example', 'a password on loopback']

/**
 * PocketBase with a collection of tickets, which anybody may list unless a rule says otherwise. It writes times with a
 * blank and compares them as text.
 */
export async function openPocketBase({ listRule = '' }: { listRule?: string } = {}) {
  const folder = await mkdtemp(join(tmpdir(), 'sluice-upstream-'))
  const port = await freePort()
  const origin = `http://127.0.0.1:${port}`
  const data = ['--dir', join(folder, 'data')]
  const made = spawnSync(pocketBase, ['superuser', 'upsert', email, password, ...data], { encoding: 'utf8' })
  if (made.status !== 0) throw new Error(`PocketBase made no operator: ${made.stdout}${made.stderr}`)
  const { start, kill } = serverProcess(port, () => ({
    program: pocketBase,
    args: ['serve', '--http', `127.0.0.1:${port}`, ...data],
    cwd: folder,
  }))
  await start()
  const send = async (method: string, path: string, body?: object, token = ''): Promise<Record<string, unknown>> => {
    const headers = { 'content-type': 'application/json', ...(token !== '' && { authorization: token }) }
    const sent = await fetch(`${origin}/api/collections${path}`, {
      method,
      headers,
      ...(body !== undefined && { body: JSON.stringify(body) }),
    })
    const answer = (await sent.json()) as Record<string, unknown>
    if (!sent.ok) throw new Error(`PocketBase answered ${sent.status}: ${JSON.stringify(answer)}`)
    return answer
  }
  const { token } = await send('POST', '/_superusers/auth-with-password', { identity: email, password })
  const records = '/tickets/records'
  await send(
    'POST',
    '',
    {
      name: 'tickets',
      type: 'base',
      listRule,
      fields: [
        { name: 'title', type: 'text' },
        { name: 'updated', type: 'autodate', onCreate: true, onUpdate: true },
      ],
    },
    String(token),
  )
  return {
    host: `127.0.0.1:${port}`,
    url: `${origin}/api/collections${records}`,
    login: {
      token_url: `${origin}/api/collections/_superusers/auth-with-password`,
      body: { identity: email, password },
      token_path: 'token',
    },
    add: async (title: string) => (await send('POST', records, { title }, String(token))) as Ticket,
    change: (id: string, title: string) => send('PATCH', `${records}/${id}`, { title }, String(token)),
    close: async () => {
      await kill()
      await rm(folder, { recursive: true, force: true })
    },
  }
}
