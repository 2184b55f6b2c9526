import { expect, test } from 'vitest'
import { keepTickShape } from '../../server/process/collect.ts'

test('what is held is what Node puts a tick into, so that its shape stays known', async () => {
  expect(await keepTickShape()).toMatchObject({ callback: expect.any(Function) })
})
