import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { parse } from 'yaml'
import { flushTimeoutMs } from '../../server/flow/index.ts'
import { limits, limitVariable, settings } from '../../server/config.ts'

const root = join(import.meta.dirname, '../..')
const read = (path: string): string => readFileSync(join(root, path), 'utf8')
const files = ['Dockerfile', 'compose.yaml', ...globSync('deploy/**/*.{yaml,json,tpl,service}', { cwd: root })]
const known = new Set([
  ...Object.values(settings).map(({ variable }) => variable),
  ...Object.keys(limits).map((name) => limitVariable(name)),
])
/** Of the compose file alone: what it is filled with. */
const ofCompose = new Set(['SLUICE_DATABASE_PASSWORD', 'SLUICE_PORT'])

// What the tools of others say of these files, `npm test -- deploy` asks; it needs them installed.
describe('what it is deployed with', () => {
  test.each(files)('%s names only settings that there are', (path) => {
    const named = [...read(path).matchAll(/\bSLUICE_[A-Z_]+\b/g)].map(([name]) => name)
    expect(named.filter((name) => !known.has(name) && !(path === 'compose.yaml' && ofCompose.has(name)))).toEqual([])
  })

  test('gives it the time to end that it may take', () => {
    const seconds = (page: string, pattern: RegExp): number => Number(pattern.exec(read(page))?.[1])
    // Calls in flight, records, its PostgreSQL in order and then at once.
    const needed = (limits.shutdownTimeoutMs.fallback + flushTimeoutMs + 8_000 + 2_000) / 1_000
    expect(seconds('compose.yaml', /stop_grace_period: (\d+)s/)).toBeGreaterThan(needed)
    expect(seconds('deploy/systemd/sluice.service', /^TimeoutStopSec=(\d+)$/m)).toBeGreaterThan(needed)
    expect(seconds('deploy/helm/sluice/values.yaml', /^terminationGracePeriodSeconds: (\d+)$/m)).toBeGreaterThan(needed)
  })

  test('has the version of the package, and one user', () => {
    const { version } = JSON.parse(read('package.json')) as { version: string }
    const chart = parse(read('deploy/helm/sluice/Chart.yaml')) as Record<string, string>
    expect([chart['version'], chart['appVersion']]).toEqual([version, version])
    expect(read('compose.yaml')).toContain(`image: sluice:${version}`)
    const user = /^USER (\d+):\1$/m.exec(read('Dockerfile'))?.[1]
    expect(read('deploy/helm/sluice/templates/statefulset.yaml')).toContain(`runAsUser: ${user}`)
  })

  test('lets the chart take as secrets what it refuses as settings', () => {
    const schema = JSON.parse(read('deploy/helm/sluice/values.schema.json')) as {
      properties: {
        secrets: { properties: object }
        settings: { propertyNames: { allOf: [unknown, { not: { enum: string[] } }] } }
      }
    }
    const refused = schema.properties.settings.propertyNames.allOf[1].not.enum
    for (const name of Object.keys(schema.properties.secrets.properties)) expect(refused).toContain(name)
  })
})
