// Runs the tests that need Redis on Debian's: a throwaway server on a loopback port that keeps nothing.
// `npm test -- redis [vitest arguments]`.
import { spawnSync } from 'node:child_process'
import { startRedis } from './redis.mjs'

const given = process.argv.slice(2)
const args = given.length > 0 ? given : ['run', '--project', 'redis']

const redis = await startRedis()
if (redis === undefined) {
  console.error('redis-server is not installed; Debian has it as "redis-server".')
  process.exitCode = 1
} else {
  try {
    const env = { ...process.env, TEST_REDIS_URL: redis.url, TEST_REDIS_SERVER: redis.binary }
    process.exitCode = spawnSync('vitest', args, { stdio: 'inherit', env }).status ?? 1
  } finally {
    await redis.stop()
  }
}
