import { execFileSync, spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'

const root = join(import.meta.dirname, '../../..')
/** The document of one entry, as far as its contract goes, in a repository of its own. */
const document = { repository: 'PokeAPI/pokeapi', path: 'openapi.yml' }
let folder: string
let repository: string
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'sluice-contracts-'))
  repository = join(folder, document.repository)
  mkdirSync(repository, { recursive: true })
  git('init', '--quiet')
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

function git(...args: string[]): void {
  const name = ['-c', 'user.name=Tests', '-c', 'user.email=tests@example.com', '-c', 'commit.gpgsign=false']
  execFileSync('git', ['-C', repository, ...name, ...args], { stdio: 'ignore' })
}

type Operation = { get: { parameters: object[]; responses: object } }
/** The contract that is shipped, written as a document again. */
function publish(change: (paths: Record<string, Operation>) => void): void {
  const path = join(root, 'catalog/contracts/pokeapi.json')
  const { documents } = JSON.parse(readFileSync(path, 'utf8')) as { documents: Contract[] }
  const [contract] = documents
  const paths = Object.fromEntries(
    Object.entries(contract?.operations ?? {}).map(([name, { parameters = {}, answer }]) => {
      const given = Object.entries(parameters).map(([parameter, { in: place, type, required }]) => {
        return { name: parameter, in: place, ...(required && { required }), schema: { type } }
      })
      const content = { 'application/json': { schema: schemaOf(answer) } }
      return [name.split(' ')[1] ?? '', { get: { parameters: given, responses: { 200: { content } } } }]
    }),
  )
  change(paths)
  const { version, servers } = contract ?? { version: '', servers: [] }
  const text = { openapi: '3.0.0', info: { version }, servers: servers.map((url) => ({ url })), paths }
  writeFileSync(join(repository, document.path), JSON.stringify(text))
  git('add', '-A')
  git('commit', '--quiet', '--allow-empty', '-m', 'document')
}

type Contract = {
  version: string
  servers: string[]
  operations: Record<
    string,
    { parameters?: Record<string, { in: string; type: string; required?: boolean }>; answer: unknown }
  >
}

function schemaOf(answer: unknown): object {
  if (Array.isArray(answer)) return { type: 'array', items: schemaOf(answer[0]) }
  if (typeof answer === 'object' && answer !== null) {
    const properties = Object.entries(answer).map(([name, each]) => [name, schemaOf(each)])
    return { type: 'object', properties: Object.fromEntries(properties) as object }
  }
  const [, type = 'string', format] = /^(\w+)(?::([\w-]+))?/.exec(String(answer)) ?? []
  const nullable = String(answer).endsWith('?')
  return { type, ...(format !== undefined && { format }), ...(nullable && { nullable }) }
}

function contracts(): { text: string; status: number | null } {
  const args = ['scripts/catalog.mjs', 'contracts', '--check', '--from', folder, 'pokeapi']
  const { stdout, stderr, status } = spawnSync(process.execPath, args, { cwd: root, encoding: 'utf8' })
  return { text: stdout + stderr, status }
}

test('a document that says the same has not changed, whatever its commit', () => {
  publish(() => undefined)
  expect(contracts()).toEqual({ text: '1 contracts, 0 changed, 0 that cannot be taken.\n', status: 0 })
})

test('what has changed is told line by line', () => {
  let changed = ''
  publish((paths) => {
    const [[name, { get }] = ['', { get: { parameters: [], responses: {} } }]] = Object.entries(paths)
    changed = name
    get.parameters.push({ name: 'region', in: 'query', schema: { type: 'string' } })
  })
  const { text, status } = contracts()
  expect(status).toBe(1)
  expect(text).toContain(`GET ${changed}.parameters.region.in: new (query)`)
  expect(text).toContain('1 contracts, 1 changed')
})

test('an operation that is there no longer is named, and stops nothing else', () => {
  let gone = ''
  publish((paths) => {
    gone = Object.keys(paths)[0] ?? ''
    delete paths[gone]
  })
  const { text, status } = contracts()
  expect(status).toBe(1)
  expect(text).toContain(`GET ${gone} is not in ${document.path}`)
  expect(text).toContain('1 that cannot be taken')
})
