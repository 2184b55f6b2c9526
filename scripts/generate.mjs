// `npm run generate` writes what is made of the sources and kept with them: docs/openapi.json, the types of the Python
// client that come from it, and what npm leaves out of the lockfile. `-- openapi` makes one of them.
import { spawnSync } from 'node:child_process'
import { findNode, installMissing, root } from './prepare.mjs'

const vitest = 'node_modules/vitest/vitest.mjs'
const generators = {
  openapi: [vitest, 'run', '--project', 'api', 'test/api/openapi.test.ts'],
  'python-contract': ['scripts/write-python-contract.mjs'],
  lockfile: ['scripts/complete-lockfile.mjs'],
}

const named = process.argv.slice(2)
const unknown = named.find((name) => !Object.hasOwn(generators, name))
if (unknown !== undefined) {
  console.error(`There is no ${unknown} to generate: ${Object.keys(generators).join(', ')}.`)
  process.exit(2)
}
installMissing()
for (const name of named.length === 0 ? Object.keys(generators) : named) {
  const env = { ...process.env, WRITE_OPENAPI: 'yes' }
  const { status } = spawnSync(findNode(), generators[name], { cwd: root, stdio: 'inherit', env })
  if (status !== 0) process.exit(status ?? 1)
}
