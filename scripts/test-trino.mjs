// Runs the query path on both engines, with a Trino coordinator, two workers, PostgreSQL and an S3 server on loopback:
// `npm run test:trino [-- vitest arguments]`.
import { spawnSync } from 'node:child_process'
import { delimiter, dirname, join } from 'node:path'
import { findObjectServer } from './object-server.mjs'
import { ensureChromium } from './chromium.mjs'
import { buildWebIfStale, findNode, installMissing, root } from './prepare.mjs'
import { findTrino } from './trino.mjs'

installMissing()
const [objects, trino] = [findObjectServer(), findTrino()]
if (objects === undefined || trino === undefined) {
  console.error('This needs Go 1.24 or newer to make its S3 server, Maven, unzip and Python 3.11 to fetch Trino.')
  process.exitCode = 1
} else {
  const node = findNode()
  const chromium = ensureChromium(node)
  // A project moves in a browser, too.
  await buildWebIfStale(node)
  const env = {
    ...process.env,
    ...(chromium !== undefined && { CHROMIUM_PATH: chromium }),
    PATH: [dirname(node), join(root, 'node_modules/.bin'), process.env.PATH].join(delimiter),
    TEST_TRINO: trino.home,
    TEST_JAVA_HOME: trino.javaHome,
    TEST_OBJECTS: objects,
    AWS_ACCESS_KEY_ID: 'sluice-test',
    AWS_SECRET_ACCESS_KEY: 'secret-of-the-tests',
  }
  const args = ['node_modules/vitest/vitest.mjs', 'run', '--project', 'trino', ...process.argv.slice(2)]
  process.exitCode = spawnSync(node, args, { cwd: root, stdio: 'inherit', env }).status ?? 1
}
