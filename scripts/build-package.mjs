// The package of the service: `node scripts/build-package.mjs dist-package` writes it, `npm run pack` packs it too. The
// server and the command line are bundled, so that what is installed with them is what is compiled for one kind of
// machine, and little else. Nothing is built on the machine of who installs it, and no install script is needed.
import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { billOfMaterials } from './bill-of-materials.mjs'
import { bundleServer } from './bundle-server.mjs'
import { packageManifest, programs, runtime, runtimeFolder, runtimeParts, taken } from './package-files.mjs'
import { bundleCommandLine, compileClient, copy, lockOf, writePapers } from './packing.mjs'
import { buildWebIfStale, findNode, installMissing, root, run } from './prepare.mjs'

const folder = resolve(process.argv[2] ?? join(root, 'dist-package'))
const dist = join(folder, 'dist')
/** How the reader was trained and what the catalog was checked against are for who changes them, the marker for the next build. */
const left = /[\\/](training|contracts|\.built-from)$/
const serverProgram = `import { fileURLToPath } from 'node:url'
export const serverProgram = (name) => fileURLToPath(new URL(\`../server/\${name}.mjs\`, import.meta.url))`

installMissing()
const node = findNode()
await buildWebIfStale(node)
rmSync(folder, { recursive: true, force: true })
mkdirSync(dist, { recursive: true })
const names = { entryFileNames: 'main.mjs', chunkFileNames: '[name].mjs' }
const chunks = [
  ...(await bundleServer(dist, { programs, runtime })),
  ...(await bundleCommandLine({ dir: join(dist, 'cli'), ...names }, serverProgram)),
]
compileClient(dist)
run(node, ['cli/write-schemas.ts', join(dist, 'schemas')])
for (const path of taken) copy(join(root, path), join(dist, path), (each) => !left.test(each))
for (const path of runtimeParts)
  copy(join(root, 'node_modules/onnxruntime-node', path), join(dist, runtimeFolder, path))
writePapers(folder, packageManifest, chunks)
// What is in it and what is installed with it, for whoever has to answer for that.
writeFileSync(join(dist, 'sbom.json'), billOfMaterials('--omit=dev').text)
writeFileSync(join(folder, 'package-lock.json'), `${JSON.stringify(lockOf(packageManifest), null, 2)}\n`)
