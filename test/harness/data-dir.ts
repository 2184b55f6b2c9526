import { execFile } from 'node:child_process'
import { chmod, mkdtemp } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { inject } from 'vitest'

/** A data folder as a first start leaves it: with a database server's files in it, which take a second to make. */
export async function makeDataDir(): Promise<string> {
  const dataDir = await makePassableFolder()
  await copyCluster(inject('clusterDir'), dataDir)
  return dataDir
}

/** As root the server runs as someone else, who has to reach it. */
export async function makePassableFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'sluice-test-'))
  await chmod(folder, 0o711)
  return folder
}

/** With owners and permissions, which PostgreSQL insists on. */
export async function copyCluster(clusterDir: string, dataDir: string): Promise<void> {
  await promisify(execFile)('cp', ['-a', clusterDir, join(dataDir, 'postgres')])
}
