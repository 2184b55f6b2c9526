import { spawnSync } from 'node:child_process'
import { dirname } from 'node:path'
import { fileURLToPath } from 'node:url'

/**
 * The seed of all properties: `TEST_SEED`, else from the commit, so that a commit is always tried with the same values
 * and the next one with others. Sources without a history have one seed.
 */
export function seedOfCommit() {
  const named = Number(process.env.TEST_SEED)
  if (Number.isInteger(named) && named !== 0) return named
  const root = dirname(dirname(fileURLToPath(import.meta.url)))
  // Whoever owns the folder: a machine that builds has it from somebody else.
  const args = ['-c', 'safe.directory=*', 'rev-parse', 'HEAD']
  const { status, stdout } = spawnSync('git', args, { cwd: root, encoding: 'utf8' })
  return (status === 0 && Number.parseInt(stdout.slice(0, 7), 16)) || 1
}
