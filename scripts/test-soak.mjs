// Steady load with hostile calls among it for as long as asked, and a look at what grows:
// `npm run test:soak [-- --minutes 3]`.
import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { findNode, installMissing, root } from './prepare.mjs'

const { values: flags } = parseArgs({ options: { minutes: { type: 'string', default: '30' } } })
if (!(Number(flags.minutes) > 0)) throw new Error('--minutes takes a number above 0.')

installMissing()
const args = [join(root, 'node_modules/vitest/vitest.mjs'), 'run', '--project', 'soak']
const env = { ...process.env, TEST_SOAK: 'yes', SOAK_MINUTES: flags.minutes }
process.exitCode = spawnSync(findNode(), args, { cwd: root, stdio: 'inherit', env }).status ?? 1
