import { execFile } from 'node:child_process'
import { chown, readFile, readlink, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import type { Places } from './places.ts'

const run = promisify(execFile)

/** The process id in the cluster's lock file, which PostgreSQL removes when it stops in order. */
export async function readPostmaster(cluster: string): Promise<number | undefined> {
  return pidIn(await readFile(join(cluster, 'postmaster.pid'), 'utf8').catch(() => ''))
}

/** Whether `pid` is a server process of this cluster: numbers are used again, in containers at every start. */
export async function isAlive(pid: number, cluster: string): Promise<boolean> {
  if (!exists(pid)) return false
  // A server process stands in its data folder. A zombie stands nowhere.
  if (process.platform === 'linux') return (await readlink(`/proc/${pid}/cwd`).catch(() => '')) === cluster
  const { stdout } = await run('ps', ['-o', 'comm=', '-p', String(pid)]).catch(() => ({ stdout: '' }))
  return stdout.includes('postgres')
}

/**
 * PostgreSQL takes a lock file for valid when any process of its user has the number in it. Where that process is
 * none of this cluster's, the number is changed to ours: PostgreSQL overlooks that of its parent, and still checks
 * whether the shared memory named in the file is in use, which removing the file would make impossible.
 */
export async function clearForeignLocks({ cluster, sockets, account }: Places): Promise<void> {
  const lock = join(cluster, 'postmaster.pid')
  const content = await readFile(lock, 'utf8').catch(() => '')
  const pid = pidIn(content)
  if (pid !== undefined && exists(pid) && !(await isAlive(pid, cluster))) {
    await writeFile(`${lock}.draft`, content.replace(/^\d+/, String(process.pid)), { mode: 0o600 })
    if (account !== undefined) await chown(`${lock}.draft`, account.uid, account.gid)
    await rename(`${lock}.draft`, lock)
  }
  const socketLock = join(sockets, '.s.PGSQL.5432.lock')
  const socketPid = pidIn(await readFile(socketLock, 'utf8').catch(() => ''))
  if (socketPid !== undefined && !(await isAlive(socketPid, cluster))) await rm(socketLock, { force: true })
}

function pidIn(lockFile: string): number | undefined {
  const pid = Number.parseInt(lockFile, 10)
  return Number.isSafeInteger(pid) && pid > 0 ? pid : undefined
}

function exists(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return error instanceof Error && 'code' in error && error.code === 'EPERM'
  }
}
