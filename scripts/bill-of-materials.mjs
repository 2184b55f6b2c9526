import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { root } from './prepare.mjs'

const limitMs = 120_000

/** What the lockfile names, as CycloneDX. */
export function billOfMaterials(...options) {
  const isWindows = process.platform === 'win32'
  const args = ['sbom', '--package-lock-only', '--sbom-format', 'cyclonedx', ...options]
  const { status, stdout, stderr } = spawnSync(isWindows ? 'npm.cmd' : 'npm', args, {
    cwd: root,
    encoding: 'utf8',
    maxBuffer: 64 * 1024 * 1024,
    shell: isWindows,
    timeout: limitMs,
  })
  if (status !== 0) throw new Error(`npm could not write the bill of materials:\n${stderr}`)
  const bill = JSON.parse(stdout)
  const { name, version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
  // npm names it after the folder that it lies in.
  Object.assign(bill.metadata.component, { name, version, purl: `pkg:npm/${name}@${version}` })
  return { text: JSON.stringify(bill, null, 2), components: bill.components ?? [] }
}
