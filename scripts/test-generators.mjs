// Generates clients from a project's OpenAPI document with the generators of others, compiles them and calls with them:
// `npm run test:generators`. The generators come from npm and PyPI into a folder outside the project that is kept
// between runs.
import { spawnSync } from 'node:child_process'
import { delimiter, dirname, join } from 'node:path'
import { installOutside } from './outside-tools.mjs'
import { findNode, installMissing, root } from './prepare.mjs'

const npmPackages = ['openapi-typescript@7.13.0', 'openapi-fetch@0.17.0', 'typescript@5.9.3']
const pythonPackages = join(root, 'test/generators/requirements.txt')

installMissing()
const node = findNode()
const env = { ...process.env, PATH: [dirname(node), join(root, 'node_modules/.bin'), process.env.PATH].join(delimiter) }
const installed = installOutside('sluice-generators', { npmPackages, pythonPackages, env })
const args = [
  'node_modules/vitest/vitest.mjs',
  'run',
  '--project',
  'generators',
  '--retry',
  '0',
  ...process.argv.slice(2),
]
const { status } = spawnSync(node, args, { cwd: root, stdio: 'inherit', env: { ...env, TEST_GENERATORS: installed } })
process.exitCode = status ?? 1
