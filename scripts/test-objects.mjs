// Runs the tests of data in a bucket on a real S3 server on loopback: `npm run test:objects [-- vitest arguments]`.
import { spawnSync } from 'node:child_process'
import { delimiter, dirname, join } from 'node:path'
import { findObjectServer } from './object-server.mjs'
import { findNode, installMissing, root } from './prepare.mjs'

installMissing()
const binary = findObjectServer()
if (binary === undefined) {
  console.error('The S3 server of the tests is made of its sources: install Go 1.24 or newer.')
  process.exitCode = 1
} else {
  const node = findNode()
  const path = [dirname(node), join(root, 'node_modules/.bin'), process.env.PATH].join(delimiter)
  const env = {
    ...process.env,
    PATH: path,
    TEST_OBJECTS: binary,
    // Found the way the AWS SDK finds them.
    AWS_ACCESS_KEY_ID: 'sluice-test',
    AWS_SECRET_ACCESS_KEY: 'secret-of-the-tests',
  }
  const args = ['node_modules/vitest/vitest.mjs', 'run', '--project', 'objects', ...process.argv.slice(2)]
  process.exitCode = spawnSync(node, args, { cwd: root, stdio: 'inherit', env }).status ?? 1
}
