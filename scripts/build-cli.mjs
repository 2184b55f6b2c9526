// The command line by itself: `node scripts/build-cli.mjs dist-cli` writes a package with it and the TypeScript client,
// which `npm pack ./dist-cli` packs, and the same command line as one file, `sluice.mjs`. Neither needs another package.
import { mkdirSync, rmSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { bundleCommandLine, clientExport, compileClient, license, version, writePapers } from './packing.mjs'
import { installMissing, root } from './prepare.mjs'

const folder = resolve(process.argv[2] ?? join(root, 'dist-cli'))
const message = 'This is the command line alone: the package of the service has what that needs.'
const serverProgram = `import { CommandFailure } from '../terminal/exit.ts'
export const serverProgram = () => { throw new CommandFailure('usage', ${JSON.stringify(message)}, { hint: 'npm install sluice' }) }`

installMissing()
rmSync(folder, { recursive: true, force: true })
mkdirSync(folder, { recursive: true })
const names = { entryFileNames: 'main.mjs', chunkFileNames: '[name].mjs' }
const chunks = await bundleCommandLine({ dir: join(folder, 'dist'), ...names }, serverProgram)
await bundleCommandLine({ file: join(folder, 'dist/sluice.mjs'), codeSplitting: false }, serverProgram)
compileClient(join(folder, 'dist'))
const manifest = {
  name: 'sluice-cli',
  version,
  private: true,
  description: 'The command line and the TypeScript client of Sluice.',
  license,
  type: 'module',
  bin: { sluice: 'dist/main.mjs' },
  files: ['dist', 'CHANGELOG.md', 'NOTICE'],
  exports: { './client': clientExport, './package.json': './package.json' },
  engines: { node: '>=20' },
}
writePapers(folder, manifest, chunks)
