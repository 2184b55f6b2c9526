// `npm run bench` measures what docs/benchmarks.md promises; `npm run bench -- routing` another of these. What stands
// behind it is for the bench itself.
import { spawnSync } from 'node:child_process'
import { findNode, root } from './prepare.mjs'
import { startRedis } from './redis.mjs'

const benches = {
  figures: ['bench/main.ts'],
  routing: ['--expose-gc', 'bench/routing/main.ts'],
  golden: ['bench/routing/golden.ts'],
  trust: ['bench/trust/main.ts'],
  memory: ['bench/trust/memory.ts'],
  latency: ['--expose-gc', 'bench/trust/latency.ts'],
  access: ['bench/access.ts'],
}

const [name = 'figures', ...args] = process.argv.slice(2)
const isNamed = Object.hasOwn(benches, name)
if (!isNamed && !name.startsWith('-')) {
  console.error(`There is no bench ${name}: ${Object.keys(benches).join(', ')}.`)
  process.exit(2)
}
const bench = isNamed ? benches[name] : benches.figures
// Its limits are counted on Redis where there is one.
const redis = name === 'access' ? await startRedis() : undefined
try {
  const { status } = spawnSync(findNode(), ['--no-warnings', ...bench, ...(isNamed ? args : process.argv.slice(2))], {
    cwd: root,
    stdio: 'inherit',
    env: { ...process.env, ...(redis !== undefined && { TEST_REDIS_URL: redis.url, TEST_REDIS_SERVER: redis.binary }) },
  })
  process.exitCode = status ?? 1
} finally {
  await redis?.stop()
}
