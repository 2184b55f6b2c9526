import { join } from 'node:path'
import { launch } from './launch.mjs'
import { buildWebIfStale, findNode, installMissing, root } from './prepare.mjs'

try {
  installMissing()
  await buildWebIfStale(findNode())
  launch({ program: join(root, 'server/main.ts'), cwd: root, compileCache: join(root, 'node_modules/.cache/sluice') })
} catch (error) {
  console.error(error instanceof Error ? error.message : error)
  process.exit(1)
}
