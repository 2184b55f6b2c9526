import { join } from 'node:path'
import { launch } from './launch.mjs'
import { buildWebIfStale, bundleServerIfStale, findNode, installMissing, root } from './prepare.mjs'

// `npm start -- --sources` runs the modules as they are written, for breakpoints: half a second later.
const sources = { program: join(root, 'server/main.ts'), compileCache: join(root, 'node_modules/.cache/sluice') }

try {
  installMissing()
  const node = findNode()
  await buildWebIfStale(node)
  const server = process.argv.includes('--sources') ? sources : await bundleServerIfStale(node).catch(runSources)
  launch({ ...server, cwd: root })
} catch (error) {
  console.error(error instanceof Error ? error.message : error)
  process.exit(1)
}

/** A folder that cannot be written to is no reason not to start. */
function runSources(error) {
  console.error(`${error.message} It runs from its sources, and starts half a second later for it.`)
  return sources
}
