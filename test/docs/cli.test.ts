import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Command } from 'commander'
import { describe, expect, test } from 'vitest'
import { parse } from 'yaml'
import { failures } from '../../api/failures.ts'
import { exitCodes } from '../../cli/terminal/exit.ts'
import { buildProgram } from '../../cli/program.ts'
import { readProject } from '../../cli/project/index.ts'
import { contractFile, pythonContract } from '../../scripts/python-contract.mjs'

const root = join(import.meta.dirname, '../..')
const read = (path: string): string => readFileSync(join(root, path), 'utf8')
const page = read('docs/cli.md')

function blocks(kind: string): string[] {
  return [...page.matchAll(new RegExp(`\`\`\`${kind}(?: .*)?\\n([\\s\\S]*?)\`\`\``, 'g'))].map(([, text = '']) => text)
}

/** Every command line that the page shows, in blocks, in tables and in the workflow. */
function shownCommands(): string[] {
  const inBlocks = [...blocks('sh'), ...blocks('yaml')].flatMap((text) => text.split('\n'))
  const inline = [...page.matchAll(/`(sluice [^`<]+)`/g)].map(([, text = '']) => text)
  const lines = [...inBlocks, ...inline].map((line) => /(?:^|[\s("])sluice ((?!-)[a-z][^#>)]*)/.exec(line)?.[1] ?? '')
  return lines.map((line) => line.replace(/\s+#.*$/, '').trim()).filter((line) => line !== '')
}

/** Parses without doing anything. */
async function parsed(args: string[]): Promise<string> {
  const program = await buildProgram(args)
  let ran = ''
  const silence = (command: Command): void => {
    command.exitOverride().configureOutput({ writeErr: () => undefined, writeOut: () => undefined })
    if (command.commands.length === 0) command.action(() => void (ran = command.name()))
    command.commands.forEach(silence)
  }
  silence(program)
  program.parse(args, { from: 'user' })
  return ran
}

describe('docs/cli.md', () => {
  test('shows only commands that are taken as they are written', async () => {
    const shown = shownCommands()
    expect(shown.length).toBeGreaterThan(30)
    const bare = new Set(
      'promote call ask run describe sql test-connection execute completion backup restore'.split(' '),
    )
    for (const line of shown) {
      if (bare.has(line)) continue
      const args = (line.match(/"[^"]*"|\S+/g) ?? []).map((word) => word.replaceAll('"', ''))
      await expect(parsed(args), `sluice ${line}`).resolves.toBeDefined()
    }
    await expect(parsed(['release', '--fore'])).rejects.toThrow('unknown option')
  })

  test('names every command', async () => {
    const named = [...page.matchAll(/^\| `sluice ([\w-]+)`/gm)].map(([, name = '']) => name)
    expect(named.toSorted()).toEqual((await buildProgram([])).commands.map((command) => command.name()).toSorted())
  })

  test('names every code that a command ends with', () => {
    const named = [...page.matchAll(/^\| `(\d+)` /gm)].map(([, code]) => Number(code))
    expect(named).toEqual(Object.values(exitCodes))
  })

  test('shows files that are read as they are written', () => {
    const [connection = '', api = '', settings = '', workflow = ''] = blocks('yaml')
    const files = new Map([
      ['sluice.yaml', `definition: 1\n${settings}`],
      ['queries/revenue_of_region.sql', blocks('sql')[0] ?? ''],
      ['connections/web_orders.yaml', connection],
      ['apis/shop.yaml', api],
    ])
    expect(readProject(files, { SHOP_TOKEN: 'x' })).toMatchObject({
      definition: {
        settings: { allowed_origins: ['https://shop.example'], questions: { min_confidence: 0.8 } },
        queries: [{ slots: { required: ['region'] } }],
        connections: [{ schedule: '0 * * * *' }],
        apis: [{ name: 'shop', rate: { requests: 5 } }],
      },
    })
    expect(Object.keys((parse(workflow) as { jobs: object }).jobs)).toEqual(['plan', 'release'])
  })
})

test('the types of the Python client are those of the OpenAPI document: npm run generate -- python-contract', () => {
  const document: unknown = JSON.parse(read('docs/openapi.json'))
  expect(read(contractFile)).toBe(pythonContract(document, failures))
})
