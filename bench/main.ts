/**
 * `npm run bench`: every figure that docs/benchmarks.md promises, in one run on one machine, each beside what it is held
 * against; prints the table and writes it into that page. `-- --only lookup,kept` measures some and writes nothing,
 * `-- --repeat` measures all of it twice, `-- --scale 0.02` makes everything small, to try the bench itself.
 */
import { execFileSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { machineText } from './machine.ts'
import { isMet, missedText, repeatText, replacePart, shown, tableOf, type Figure, type Missing } from './report.ts'
import type { Row } from './row.ts'
import { deploy } from './rows/deploy.ts'
import { execute } from './rows/execute.ts'
import { formatsRow } from './rows/formats.ts'
import { groupBy } from './rows/group-by.ts'
import { idle } from './rows/idle.ts'
import { kept } from './rows/kept.ts'
import { lookup } from './rows/lookup.ts'
import { models } from './rows/models.ts'
import { peersRow } from './rows/peers.ts'
import { question } from './rows/question.ts'
import { scaleRow } from './rows/scale.ts'
import { start } from './rows/start.ts'
import { streaming } from './rows/streaming.ts'
import { openWorlds, type Worlds } from './worlds.ts'

/** Rows of a group share what they measure on, in this order; it is gone before the next group begins. */
const groups: Row[][] = [
  [start, idle],
  [streaming, lookup, kept, groupBy, formatsRow, peersRow],
  [question, deploy],
  [execute],
  [models],
  [scaleRow],
]
const root = join(import.meta.dirname, '..')
const page = join(root, 'docs/benchmarks.md')

const { values } = parseArgs({
  options: {
    only: { type: 'string' },
    repeat: { type: 'boolean', default: false },
    scale: { type: 'string', default: '1' },
  },
})
const wanted = values.only?.split(',')
const unknown = wanted?.filter((name) => !groups.flat().some((row) => row.name === name)) ?? []
if (unknown.length > 0) {
  const names = groups.flat().map(({ name }) => name)
  throw new Error(`There is no row ${unknown.join(', ')}: --only takes some of ${names.join(', ')}.`)
}
const scale = Number(values.scale)
const startedAt = new Date()
const missing = new Map<string, Missing>()
const first = await measureAll()
const second = values.repeat ? await measureAll() : null
const tookMs = Date.now() - startedAt.getTime()

const met = first.filter((figure) => figure.goal !== null && isMet(figure)).length
const summary = `${met} of ${first.filter(({ goal }) => goal !== null).length} goals are met.`
const repeated = second === null ? 'Measured once.' : repeatText(first, second)
const text = [
  machineText(startedAt, tookMs),
  tableOf(first, second),
  `${summary} ${repeated}`,
  missedText(first),
  missingText(),
].join('\n\n')
console.log(`\n${text}`)
if (wanted === undefined && scale === 1) {
  writeFileSync(page, replacePart(readFileSync(page, 'utf8'), 'figures', text))
  execFileSync(process.execPath, [join(root, 'node_modules/oxfmt/bin/oxfmt'), page], { cwd: root, stdio: 'inherit' })
}
process.exit(0)

async function measureAll(): Promise<Figure[]> {
  const figures: Figure[] = []
  for (const group of groups) {
    const worlds = openWorlds(scale)
    try {
      for (const row of group.filter(({ name }) => wanted?.includes(name) ?? true)) {
        console.log(`${row.name} …`)
        figures.push(...(await measure(row, worlds)))
      }
    } finally {
      await worlds.close()
    }
  }
  return figures
}

/** A row that fails is told, and the others are measured all the same. */
async function measure(row: Row, worlds: Worlds): Promise<Figure[]> {
  const miss = (each: Missing): void => void missing.set(each.what, each)
  try {
    const measured = await row.measure({ scale, worlds, say, miss })
    for (const figure of measured) say(`${figure.what} / ${figure.against}: ${told(figure)}`)
    return measured
  } catch (error) {
    console.error(error)
    miss({ what: `row ${row.name}`, why: error instanceof Error ? error.message : String(error) })
    return []
  }
}

function say(line: string): void {
  console.log(`  ${line}`)
}

function told(figure: Figure): string {
  const verdict = figure.goal === null ? '' : isMet(figure) ? ', met' : ', NOT met'
  return `${shown(figure.value, figure.unit)} (${figure.ours} / ${figure.theirs})${verdict}`
}

function missingText(): string {
  const lines = [...missing.values()].map(({ what, why }) => `- ${what}: ${why}.`)
  return lines.length === 0 ? 'Everything could be measured.' : `Not measured here:\n\n${lines.join('\n')}`
}
