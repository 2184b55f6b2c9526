import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { parse } from 'yaml'
import { importedByTheApp, withPackages } from '../../scripts/notice.mjs'

const root = join(import.meta.dirname, '../..')
const read = (path: string): string => readFileSync(join(root, path), 'utf8')
const manifest = JSON.parse(read('package.json')) as { version: string; license: string }
const lock = JSON.parse(read('package-lock.json')) as {
  packages: Record<string, { version?: string; license?: string; dependencies?: Record<string, string> }>
}
const pyproject = read('clients/python/pyproject.toml')
const chart = parse(read('deploy/helm/sluice/Chart.yaml')) as { version: string; annotations: Record<string, string> }

/** Entries that a reader would pass over: more than a line of words. */
const longestEntry = 32

describe('a release', () => {
  test('has one version in every manifest, and on every page that names a package', () => {
    const own = lock.packages['']
    const python = [
      /^version = "(.*)"$/m.exec(pyproject),
      /__version__ = "(.*)"/.exec(read('clients/python/src/sluice_client/__init__.py')),
    ]
    expect([own?.version, chart.version, ...python.map((found) => found?.[1])]).toEqual(Array(4).fill(manifest.version))
    const pages = ['docs/quick-start.md', 'docs/cli.md', 'docs/operate.md', 'deploy/systemd/sluice.service']
    for (const page of pages) {
      const named = [...read(page).matchAll(/sluice-(\d+\.\d+\.\d+)\.tgz/g)].map(([, version]) => version)
      expect([page, ...new Set(named)]).toEqual([page, manifest.version])
    }
    const [major, minor] = manifest.version.split('.')
    expect(read('SECURITY.md')).toContain(`\`${major}.${minor}\``)
  })

  test('says in every manifest that no licence is chosen', () => {
    expect([manifest.license, lock.packages['']?.license]).toEqual(['UNLICENSED', 'UNLICENSED'])
    expect(pyproject).toContain('license = { text = "UNLICENSED" }')
    expect(chart.annotations['artifacthub.io/license']).toBe('UNLICENSED')
    expect(read('Dockerfile')).toContain('org.opencontainers.image.licenses="UNLICENSED"')
    expect(read('README.md')).toMatch(/no licence has been chosen/i)
  })

  test('is described: how to make one, how long things live, and CI runs what a laptop runs', () => {
    const workflow = parse(read('.github/workflows/ci.yml')) as {
      jobs: Record<string, { steps: Array<{ run?: string }> }>
    }
    const commands = Object.values(workflow.jobs).flatMap(({ steps }) => steps.flatMap(({ run }) => run ?? []))
    expect(commands).toEqual(['.ci/run'])
    const page = read('docs/releasing.md')
    for (const word of ['Deprecation', 'Sunset', 'six months', 'scripts/notice.mjs', 'scripts/test-upgrade.mjs'])
      expect(page).toContain(word)
  })

  test('opens with a page of two screens', () => {
    const readme = read('README.md')
    expect(readme.split('\n').length).toBeLessThan(100)
    expect([...readme.matchAll(/!\[/g)]).toHaveLength(1)
  })

  test('is the newest section of a changelog of short lines', () => {
    const changelog = read('CHANGELOG.md')
    expect([...changelog.matchAll(/^## (.*)$/gm)].map(([, name]) => name)).toEqual([manifest.version, '0.1.0'])
    const entries = changelog.split('\n').filter((line) => line.startsWith('- '))
    expect(entries.length).toBeGreaterThan(40)
    expect(entries.filter((line) => line.split(/\s+/).length > longestEntry)).toEqual([])
    const others = changelog
      .split('\n')
      .slice(4)
      .filter((line) => !/^(- |#|$)/.test(line))
    expect(others.length, 'one line an entry').toBeLessThanOrEqual(2)
  })
})

describe('NOTICE', () => {
  test('names every package that is shipped, its licence and who holds it: node scripts/notice.mjs', () => {
    expect(importedByTheApp()).toContain('react')
    expect(withPackages(read('NOTICE'), lock.packages, importedByTheApp())).toBe(read('NOTICE'))
  })

  test('changes with what is shipped', () => {
    const packages = {
      'node_modules/a': { version: '1.0.0', dependencies: { c: '*' } },
      'node_modules/b': { version: '2.0.0', dev: true, dependencies: { c: '*' } },
      'node_modules/b/node_modules/c': { version: '3.0.0', dev: true },
      'node_modules/d-linux-x64': { version: '4.0.0' },
      'node_modules/d-darwin-arm64': { version: '4.0.0' },
      'node_modules/e': { version: '5.0.0', dev: true },
    }
    const installed = (path: string) =>
      path.includes('darwin') ? undefined : { license: path.endsWith('/c') ? 'ISC' : 'MIT', holders: ['Ada'] }
    const text = withPackages('Head\n', packages, ['b'], installed)
    const lines = text.split('\n').map((line) => line.trim())
    expect(lines).toContain('d-* 4.0.0 (Ada)')
    expect(lines.slice(lines.indexOf('Built into the app and <sluice-ask>'))).toEqual([
      'Built into the app and <sluice-ask>',
      '',
      'ISC',
      'c 3.0.0 (Ada)',
      '',
      'MIT',
      'b 2.0.0 (Ada)',
      '',
    ])
    expect(text).not.toContain('e 5.0.0')
    expect(() => withPackages('', packages, [], () => undefined)).toThrow('is not installed')
  })
})
