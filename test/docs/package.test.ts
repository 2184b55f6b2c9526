import { existsSync, globSync, readFileSync } from 'node:fs'
import { dirname, join, normalize } from 'node:path'
import { describe, expect, test } from 'vitest'
import { taken } from '../../scripts/package-files.mjs'

const root = join(import.meta.dirname, '../..')
const read = (path: string): string => readFileSync(join(root, path), 'utf8')
const manifest = JSON.parse(read('package.json')) as {
  bin: Record<string, string>
  files: string[]
  exports: Record<string, string | Record<string, string>>
  dependencies: Record<string, string>
  scripts: Record<string, string>
}
/** What `npm pack` compiles: `tsconfig.package.json`. */
const sources = globSync(['api/**/*.ts', 'server/**/*.ts', 'cli/**/*.ts', 'clients/typescript/**/*.ts'], { cwd: root })

// The package itself is packed, installed and started by `npm test -- package`, which takes minutes.
describe('the package', () => {
  test('brings every library that what is compiled imports', () => {
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
      [...read(path).matchAll(/import\.meta\.dirname, '([^']+)'/g)].map(([, beside = '']) =>
        normalize(join(dirname(path), beside)),
      ),
    )
    expect(found.length).toBeGreaterThan(3)
    expect(found.filter((path) => !taken.includes(path))).toEqual([])
    const programs = sources.flatMap((path) =>
      [...read(path).matchAll(/programBeside\(import\.meta\.url, '([^']+)'\)/g)].map(([, name = '']) =>
        join(dirname(path), `${name}.ts`),
      ),
    )
    expect(programs.length).toBeGreaterThan(2)
    for (const path of programs) expect(existsSync(join(root, path)), path).toBe(true)
  })

  test('names no program by an ending that is gone once it is compiled', () => {
    for (const path of sources) expect(read(path), path).not.toMatch(/new URL\('[^']*\.ts'/)
  })

  test('offers only files that the compiler writes or that are taken', () => {
    const paths = Object.values(manifest.exports).flatMap((each) =>
      typeof each === 'string' ? [each] : Object.values(each),
    )
    expect(paths.length).toBeGreaterThan(3)
    for (const path of [manifest.bin['sluice'] ?? '', ...paths]) {
      const source = path.replace(/^(\.\/)?dist\//, '').replace(/(\.d\.ts|\.js)$/, '.ts')
      const isMade = source.startsWith('schemas/') || source.startsWith('web/dist/')
      const isThere = existsSync(join(root, source)) || isMade || path === './package.json'
      expect(isThere, path).toBe(true)
    }
    expect(manifest.files).toContain('dist')
    expect(manifest.scripts['prepack']).toBe('node scripts/build-package.mjs')
  })
})
