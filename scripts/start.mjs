import { join } from 'node:path'
import { launch } from './launch.mjs'
import { buildWebIfStale, bundleServerIfStale, findNode, installMissing, root } from './prepare.mjs'

// `npm start -- --sources` runs the modules as they are written, for breakpoints: half a second later.
const sources = { program: join(root, 'server/main.ts'), compileCache: join(root, 'node_modules/.cache/sluice') }
const given = (option) => process.argv.includes(option)

try {
  installMissing()
  const node = findNode()
  await buildWebIfStale(node)
  launch({ ...(given('--sources') ? sources : await bundleServerIfStale(node)), cwd: root })
} catch (error) {
  console.error(error instanceof Error ? error.message : error)
  process.exit(1)
}
