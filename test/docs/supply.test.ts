import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { supplyProblems } from '../../scripts/supply.mjs'

const root = join(import.meta.dirname, '../..')
type Entry = Record<string, unknown>
type Manifest = { scripts: Record<string, string>; dependencies: Record<string, string> }
type Lock = { packages: Record<string, Entry> }
const read = (name: string): unknown => JSON.parse(readFileSync(join(root, name), 'utf8'))
const isInstalled = (path: string): boolean => existsSync(join(root, path, 'package.json'))

describe('what is installed', () => {
  test('is exact, has a known licence and a checksum, and runs nothing when it is installed', () => {
    const lock = read('package-lock.json') as Lock
    expect(supplyProblems(read('package.json') as Manifest, lock, isInstalled)).toEqual([])
    expect(Object.keys(lock.packages).filter((path) => path !== '' && isInstalled(path)).length).toBeGreaterThan(300)
    expect(readFileSync(join(root, '.npmrc'), 'utf8')).toMatch(/^ignore-scripts=true$/m)
  })

  const good = { version: '1.0.0', license: 'MIT', integrity: 'sha512-…' }
  const planted: Array<[string, Manifest, Entry]> = [
    ['a range', { scripts: {}, dependencies: { a: '^1.0.0' } }, good],
    ['a tag', { scripts: {}, dependencies: { a: 'latest' } }, good],
    ['an install script of ours', { scripts: { postinstall: 'x' }, dependencies: {} }, good],
    ['an install script', { scripts: {}, dependencies: {} }, { ...good, hasInstallScript: true }],
    ['an unknown licence', { scripts: {}, dependencies: {} }, { ...good, license: 'SSPL-1.0' }],
    ['half of a licence', { scripts: {}, dependencies: {} }, { ...good, license: 'MIT AND GPL-3.0-only' }],
    ['no licence', { scripts: {}, dependencies: {} }, { ...good, license: undefined }],
    ['no checksum', { scripts: {}, dependencies: {} }, { ...good, integrity: undefined }],
    ['another place', { scripts: {}, dependencies: {} }, { ...good, resolved: 'https://elsewhere.example/a.tgz' }],
  ]
  test.each(planted)('is found with %s', (_name, manifest, entry) => {
    expect(supplyProblems(manifest, { packages: { '': {}, 'node_modules/a': entry } }, () => true).length).toBe(1)
  })
})
