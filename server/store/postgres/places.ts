import { randomBytes } from 'node:crypto'
import { chmod, chown, link, lstat, mkdir, readFile, realpath, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'

/** The user that PostgreSQL runs as. Absent: the user that we run as. */
export type Account = { uid: number; gid: number }

/** Where the embedded server keeps its things. */
export type Places = {
  account: Account | undefined
  /** Holds the cluster, the prepared binaries and the log. */
  home: string
  cluster: string
  sockets: string
  log: string
}

/** PostgreSQL refuses to run as root; this is `nobody` on every Linux. */
const nobody: Account = { uid: 65_534, gid: 65_534 }

/** A unix socket's address holds 107 bytes on Linux and 103 elsewhere; the file's own name takes 15 of them. */
const socketDirBytes = 88

/** A random name that the data folder keeps for ever: it tells one folder from another on a shared server. */
export async function readFolderId(dataDir: string): Promise<string> {
  await makePassable(dataDir)
  const path = join(dataDir, 'folder-id')
  await writeOnce(path, `${randomBytes(8).toString('hex')}\n`)
  const id = (await readFile(path, 'utf8')).trim()
  if (!/^[0-9a-f]{16}$/.test(id)) throw new Error(`${path} is damaged: it should hold 16 hexadecimal digits.`)
  return id
}

export async function findPlaces(dataDir: string, folderId: string): Promise<Places> {
  const root = await realpath(dataDir)
  const account = process.getuid?.() === 0 ? await ownerOf(join(root, 'postgres')) : undefined
  const home = account === undefined ? root : await findHome(root, folderId, account)
  const sockets = await makeSocketDir(home, folderId, account)
  return { account, home, cluster: join(home, 'postgres'), sockets, log: join(home, 'postgres.log') }
}

/** A cluster runs as its owner, so that a folder filled by a plain user also opens as root. */
async function ownerOf(cluster: string): Promise<Account> {
  const found = await lstat(cluster).catch(() => undefined)
  return found === undefined || found.uid === 0 ? nobody : { uid: found.uid, gid: found.gid }
}

/** The data folder itself, else a folder that `account` can reach, remembered in the data folder. */
async function findHome(dataDir: string, folderId: string, account: Account): Promise<string> {
  const record = join(dataDir, 'postgres-home')
  const recorded = await readFile(record, 'utf8').catch(() => undefined)
  if (recorded !== undefined)
    return realpath(recorded.trim()).catch(() => {
      throw new Error(`The database of ${dataDir} was kept in ${recorded.trim()}, which is gone.`)
    })
  if (await canTraverse(dataDir, account)) return dataDir
  // A second, empty cluster beside an existing one would look like lost data.
  if ((await lstat(join(dataDir, 'postgres')).catch(() => undefined)) !== undefined)
    throw new Error(`${dataDir} holds a database that uid ${account.uid} can no longer reach: allow it to pass (o+x).`)
  // Not the temporary folder: what is kept there may be gone after a restart of the machine.
  for (const parent of ['/var/lib', '/srv']) {
    const home = join(parent, `sluice-${folderId}`)
    const made = await makePassable(home).then(
      () => true,
      () => false,
    )
    if (!made || !(await canTraverse(home, account))) continue
    await writeOnce(record, `${home}\n`)
    return realpath((await readFile(record, 'utf8')).trim())
  }
  throw new Error(`uid ${account.uid} cannot reach ${dataDir} to run PostgreSQL: choose another SLUICE_DATA_DIR.`)
}

/** Others may pass through the new folder but not list it: the server's own user has to reach its cluster inside. */
async function makePassable(folder: string): Promise<void> {
  const created = await mkdir(folder, { recursive: true })
  if (created !== undefined) await chmod(folder, 0o711)
}

async function makeSocketDir(home: string, folderId: string, account: Account | undefined): Promise<string> {
  const beside = join(home, 'sockets')
  const short = join(tmpdir(), `sluice-${folderId}`)
  const path = Buffer.byteLength(beside) <= socketDirBytes ? beside : short
  await mkdir(path, { mode: 0o700 }).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'EEXIST') throw error
  })
  const found = await lstat(path)
  const owners = [process.getuid?.(), account?.uid]
  // The owner of this folder is the server for us: in the shared temporary folder it must not be a stranger's.
  if (!found.isDirectory() || (path === short && !owners.includes(found.uid)))
    throw new Error(`${path} should be a folder of our own: remove it.`)
  if (account !== undefined) await chown(path, account.uid, account.gid)
  await chmod(path, 0o700)
  return path
}

/** Whether `account` may pass through `path` and every folder above it. */
export async function canTraverse(path: string, account: Account): Promise<boolean> {
  for (let folder = path; ; folder = dirname(folder)) {
    if (!hasBit(await stat(folder), account, 0o1)) return false
    if (folder === dirname(folder)) return true
  }
}

/** Whether the permission `bit` (4 read, 2 write, 1 execute or pass) is granted to `account`. */
export function hasBit(file: { uid: number; gid: number; mode: number }, account: Account, bit: number): boolean {
  const shift = file.uid === account.uid ? 6 : file.gid === account.gid ? 3 : 0
  return ((file.mode >> shift) & bit) !== 0
}

/** Writes a file unless it exists; it appears whole or not at all, and the first of several writers wins. */
async function writeOnce(path: string, content: string): Promise<void> {
  if ((await lstat(path).catch(() => undefined)) !== undefined) return
  const draft = `${path}.${randomBytes(4).toString('hex')}`
  await writeFile(draft, content, { mode: 0o600, flush: true })
  await link(draft, path).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'EEXIST') throw error
  })
  await rm(draft)
}
