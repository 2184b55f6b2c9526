// Static checks say the same of the same files: what passed is kept by a hash of all that it read.
import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { root } from './prepare.mjs'

const folder = join(root, 'node_modules/.cache/sluice-checks')
/** What any of the checks reads; the tools themselves are named by the lockfile. */
const read = /\.(ts|tsx|mts|mjs|js|json|jsonc|css|html|md|ya?ml|toml)$|(^|\/)\.[a-z]+(rc|ignore)[^/]*$/
const tree = hashOfTree()

/** Whether this check has passed on these files. */
export function isChecked(name) {
  return tree !== undefined && existsSync(marker(name))
}

/** Only the newest: who goes back to an older state checks it again. */
export function keepChecked(name) {
  if (tree === undefined || hashOfTree() !== tree) return
  mkdirSync(folder, { recursive: true })
  const others = readdirSync(folder).filter((each) => each.startsWith(`${slug(name)}.`))
  for (const each of others) rmSync(join(folder, each), { force: true })
  writeFileSync(marker(name), '')
}

function marker(name) {
  return join(folder, `${slug(name)}.${tree}`)
}

function slug(name) {
  return name.replaceAll(' ', '-')
}

/** Undefined without git, which says which files are part of the tree. */
function hashOfTree() {
  const args = ['-c', 'safe.directory=*', 'ls-files', '-z', '--cached', '--others', '--exclude-standard']
  const { status, stdout } = spawnSync('git', args, { cwd: root, encoding: 'utf8', maxBuffer: 64 * 1024 * 1024 })
  if (status !== 0) return undefined
  const hash = createHash('sha256')
  for (const path of [...new Set(stdout.split('\0'))]
    .filter((each) => read.test(each))
    .toSorted((a, b) => (a < b ? -1 : 1))) {
    const place = join(root, path)
    if (existsSync(place)) hash.update(path).update('\0').update(readFileSync(place)).update('\0')
  }
  return hash.digest('hex').slice(0, 32)
}
