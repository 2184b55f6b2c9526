// What `npm pack` packs: everything compiled into dist/, laid out as the sources are, so that nothing is built on the
// machine of who installs it. Node strips no types below node_modules.
import { cpSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { billOfMaterials } from './bill-of-materials.mjs'
import { taken } from './package-files.mjs'
import { buildWebIfStale, findNode, installMissing, root, run } from './prepare.mjs'

const dist = join(root, 'dist')
const tsc = 'node_modules/typescript/bin/tsc'
/** How the reader was trained and what the catalog was checked against are for who changes them, the marker for the next build. */
const left = /[\\/](training|contracts|\.built-from)$/

installMissing()
const node = findNode()
await buildWebIfStale(node)
rmSync(dist, { recursive: true, force: true })
run(node, [tsc, '-p', 'tsconfig.package.json'])
// Last, for people's editors: the client with its types, and without those of Node.
run(node, [tsc, '-p', 'clients/typescript'])
for (const path of taken)
  cpSync(join(root, path), join(dist, path), { recursive: true, filter: (each) => !left.test(each) })
run(node, ['dist/cli/write-schemas.js', 'dist/schemas'])
// What is installed with it, for whoever has to answer for that.
writeFileSync(join(dist, 'sbom.json'), billOfMaterials('--omit=dev').text)
