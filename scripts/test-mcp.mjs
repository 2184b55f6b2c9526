// Runs the protocol's own conformance suite and its inspector against /mcp, and prints what they find:
// `npm run test:mcp`. Both come from npm into a folder outside the project that is kept between runs.
import { spawnSync } from 'node:child_process'
import { delimiter, dirname, join } from 'node:path'
import { installOutside } from './outside-tools.mjs'
import { findNode, installMissing, root } from './prepare.mjs'

const npmPackages = ['@modelcontextprotocol/conformance@0.1.16', '@modelcontextprotocol/inspector@2.12.0']

installMissing()
const node = findNode()
const env = { ...process.env, PATH: [dirname(node), join(root, 'node_modules/.bin'), process.env.PATH].join(delimiter) }
const installed = installOutside('sluice-mcp', { npmPackages, env })
const args = ['node_modules/vitest/vitest.mjs', 'run', '--project', 'mcp', '--retry', '0', ...process.argv.slice(2)]
const { status } = spawnSync(node, args, { cwd: root, stdio: 'inherit', env: { ...env, TEST_MCP: installed } })
process.exitCode = status ?? 1
