import { existsSync, globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'

const root = join(import.meta.dirname, '../../..')
const styles = join(root, 'node_modules/@mantine/core/styles')
const listed = readFileSync(join(root, 'web/mantine.css'), 'utf8')

/** The parts of the library that a source takes. */
function partsIn(source: string): string[] {
  return [...source.matchAll(/import \{([^}]*)\} from '@mantine\/core'/g)].flatMap(([, names = '']) =>
    names.split(',').map((name) => name.trim()),
  )
}

test('every part of the library that a page uses has its styles loaded', () => {
  const sources = globSync('web/{pages,parts}/**/*.tsx', { cwd: root })
  const used = new Set(sources.flatMap((path) => partsIn(readFileSync(join(root, path), 'utf8'))))
  expect(used.size).toBeGreaterThan(30)
  const styled = [...used].filter((name) => existsSync(join(styles, `${name}.layer.css`)))
  expect(styled.filter((name) => !listed.includes(`/${name}.layer.css`))).toEqual([])
  expect(partsIn("import { Button,\n Stepper } from '@mantine/core'")).toEqual(['Button', 'Stepper'])
})
