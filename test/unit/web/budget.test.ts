import { build } from 'vite'
import { expect, test } from 'vitest'
import { judgeFirstLoad, packAssets, measureFirstLoad } from '../../../web/budget.ts'

const files: Record<string, string> = {
  'entry.js': "import { near } from 'near.js'; console.log(near); void import('far.js')",
  'near.js': "export const near = 'needed at once'",
  'far.js': `export const far = '${'only later '.repeat(50)}'`,
}

/** A build of a few files that exist only here. */
async function buildWith(budgetBytes: number): Promise<unknown> {
  return build({
    configFile: false,
    logLevel: 'silent',
    build: { write: false, rollupOptions: { input: 'entry.js' } },
    plugins: [
      {
        name: 'files',
        resolveId: (id) => (id in files ? id : null),
        load: (id) => files[id] ?? null,
      },
      packAssets(budgetBytes),
    ],
  })
}

test('a build over its budget fails and says by how much', async () => {
  await expect(buildWith(10)).rejects.toThrow(/over its budget of 0\.0 KB/)
})

test('a build within its budget passes', async () => {
  await expect(buildWith(300 * 1024)).resolves.toBeDefined()
})

test('the first load is the entry with what it imports, without what it loads when asked', () => {
  const chunk = (fileName: string, imports: string[], code: string, isEntry = false) =>
    ({ type: 'chunk', fileName, imports, code, isEntry }) as Parameters<typeof measureFirstLoad>[0][string]
  const size = measureFirstLoad({
    'a.js': chunk('a.js', ['b.js'], 'a'.repeat(1000), true),
    'b.js': chunk('b.js', ['a.js'], 'b'.repeat(1000)),
    'later.js': chunk('later.js', [], 'c'.repeat(1000)),
  })
  expect(size).toMatchObject({ files: ['a.js', 'b.js'], rawBytes: 2000 })
  expect(judgeFirstLoad(size, size.gzipBytes).mistake).toBeNull()
  expect(judgeFirstLoad(size, size.gzipBytes - 1).mistake).toMatch(/over its budget/)
})
