// Drives real servers that are not ours through first load, refresh, outage, drift and recovery, and counts every row on
// both sides. They come from PyPI and npm into a folder outside the project that is kept between runs:
// `npm run test:upstreams [-- -t Datasette]`.
import { spawnSync } from 'node:child_process'
import { delimiter, dirname, join } from 'node:path'
import { installOutside } from './outside-tools.mjs'
import { findNode, installMissing, root } from './prepare.mjs'

const npmPackages = ['json-server@0.17.4', 'postgraphile@5.1.5']
const pythonPackages = join(root, 'test/upstreams/requirements.txt')

installMissing()
const node = findNode()
const env = { ...process.env, PATH: [dirname(node), join(root, 'node_modules/.bin'), process.env.PATH].join(delimiter) }
const installed = installOutside('sluice-upstreams', { npmPackages, pythonPackages, env })
const args = [
  'node_modules/vitest/vitest.mjs',
  'run',
  '--project',
  'upstreams',
  '--retry',
  '0',
  ...process.argv.slice(2),
]
const { status } = spawnSync(node, args, { cwd: root, stdio: 'inherit', env: { ...env, TEST_UPSTREAMS: installed } })
process.exitCode = status ?? 1
