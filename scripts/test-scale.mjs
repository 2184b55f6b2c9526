// Three API replicas, two workers and all they share on loopback, under mixed traffic, each part killed in turn:
// `npm run test:scale [-- --minutes 3]`. Redis comes from Debian, the S3 server is made of its sources once.
import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { findObjectServer } from './object-server.mjs'
import { findNode, installMissing, root } from './prepare.mjs'
import { findRedisServer } from './redis.mjs'

const { values: flags } = parseArgs({ options: { minutes: { type: 'string', default: '10' } } })
if (!(Number(flags.minutes) >= 3)) throw new Error('--minutes takes a number from 3 on.')

installMissing()
const [objects, redis] = [findObjectServer(), findRedisServer()]
if (objects === undefined || redis === undefined) {
  console.error('This needs Go 1.24 or newer to make its S3 server, and redis-server.')
  process.exitCode = 1
} else {
  const env = {
    ...process.env,
    TEST_SCALE: flags.minutes,
    TEST_OBJECTS: objects,
    TEST_REDIS_SERVER: redis,
    AWS_ACCESS_KEY_ID: 'sluice-test',
    AWS_SECRET_ACCESS_KEY: 'secret-of-the-tests',
  }
  const args = [
    join(root, 'node_modules/vitest/vitest.mjs'),
    'run',
    '--project',
    'scale',
    '--disable-console-intercept',
  ]
  process.exitCode = spawnSync(findNode(), args, { cwd: root, stdio: 'inherit', env }).status ?? 1
}
