import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'

const read = (path: string): string => readFileSync(join(import.meta.dirname, '../..', path), 'utf8')

test('the settings of Trino in the guide are those that its tests run with', () => {
  const guide = read('docs/scaling.md')
  const shown = [...guide.matchAll(/^((?:iceberg|fs|s3|connector|security|access-control)\.[\w.-]+)=/gm)]
  const names = shown.map(([, name = '']) => name)
  expect(names.length).toBeGreaterThan(12)
  const used = read('test/harness/trino-cluster.ts')
  for (const name of names) expect(used, name).toContain(`${name}=`)
})
