import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { bundleServerIfStale } from '../../scripts/prepare.mjs'

describe('what a start loads of the bundle', async () => {
  const { program } = await bundleServerIfStale(process.execPath)
  const parts = join(dirname(program), '../parts')
  const serve = readdirSync(parts).find((name) => name.startsWith('serve-')) ?? ''
  const loaded = [...withImports(program), ...withImports(join(parts, serve))]

  test('is found', () => {
    expect(loaded.filter((path) => /questions-|serve-|store-/.test(path)).length).toBeGreaterThan(2)
  })

  test('has one byte for each character, so that its text takes half the memory', () => {
    const wide = loaded.filter((path) => /[\u0100-\u{10ffff}]/u.test(readFileSync(path, 'utf8')))
    expect(wide).toEqual([])
  })

  test('does not import node:http, which would load a second HTTP client with it', () => {
    const importing = loaded.filter((path) => /^import .* from "(?:node:)?http";$/mu.test(readFileSync(path, 'utf8')))
    expect(importing).toEqual([])
  })
})

function withImports(path: string, seen = new Set<string>()): Set<string> {
  if (seen.has(path)) return seen
  seen.add(path)
  for (const [, name = ''] of readFileSync(path, 'utf8').matchAll(/^import .*"(\.{1,2}\/[^"]+)";$/gmu))
    withImports(join(dirname(path), name), seen)
  return seen
}
