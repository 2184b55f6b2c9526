import { mkdir, writeFile } from 'node:fs/promises'
import { dirname } from 'node:path'
import { parseArgs } from 'node:util'
import { buildIndex, openEncoder, route, type ProjectIndex } from '../../server/router/index.ts'
import type { RuleName } from '../../server/router/project/rules.ts'
import { cachedEncoder } from '../routing/cached-encoder.ts'
import { judge, verdicts, type Asked } from './judge.ts'
import { foldReaders } from './fold-readers.ts'
import { lossOf, printLosses, type Loss } from './losses.ts'
import { printRules, rememberingEncoder, tellingRules, withoutRule, type Compared } from './rules.ts'
import { printReliability } from './reliability.ts'
import { drawn, readWorlds, type World, type WorldQuestion } from './world.ts'

/**
 * `npm run bench -- trust <folder of worlds> [--without-reader] [--silent <file>] [--rows <file>] [--only a,b] [--draw <queries>] [--cache <path>] [--rules] [--losses <file>]
 * [--readers <folder>]`
 * Asks every question of every world in this process, on the way that the product's own questions take, and prints what
 * became of them by world and by class. The wrong answers that look right are written to a file. With a
 * cache of vectors times mean nothing. With `--losses` it tells what each right answer was lost to, and lists them in
 * that file. With `--rules` every question is asked once more for each hand-written rule of
 * the router that had a say in its answer, with that rule switched off, and what each of them saves is printed. With
 * `--readers` readers answer that were trained without the world that is asked (`fold-readers.ts`,
 * `models/question-reader/training`). With `--draw` each world becomes projects of so many of its queries.
 */
const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    'without-reader': { type: 'boolean', default: false },
    silent: { type: 'string', default: 'node_modules/.cache/trust-silent.txt' },
    rows: { type: 'string' },
    only: { type: 'string' },
    draw: { type: 'string' },
    rules: { type: 'boolean', default: false },
    cache: { type: 'string' },
    readers: { type: 'string' },
    threads: { type: 'string', default: '2' },
    losses: { type: 'string' },
  },
})
const now = new Date('2026-11-16T12:00:00Z')
const wanted = values.only?.split(',')
const whole = (await readWorlds(positionals[0] ?? '.', now)).filter(({ name }) => wanted?.includes(name) ?? true)
const worlds = values.draw === undefined ? whole : whole.flatMap((world) => drawn(world, Number(values.draw)))
const opened = await openEncoder({
  modelDir: 'models/question-encoder',
  ...(values['without-reader'] ? {} : { readerDir: 'models/question-reader' }),
  threads: Number(values.threads),
})
const cached = values.cache === undefined ? null : await cachedEncoder(opened, values.cache)
const { reader } = opened
const folded = reader === null || values.readers === undefined ? null : await foldReaders(reader, values.readers)
const ready = cached ?? opened
const asked: Asked[] = []
const losses: Loss[] = []
const withoutRules = new Map<RuleName, Compared[]>()
for (const world of worlds) {
  const read = folded === null ? ready : { ...ready, reader: folded.readerFor(world.name) }
  const encoder = values.rules ? rememberingEncoder(read) : read
  const index = await buildIndex(encoder, world.project)
  for (const question of world.questions) {
    const telling = tellingRules(index)
    const each = await askOne(values.rules ? telling.index : index, world, question)
    asked.push(each)
    const isLost = each.expected.query !== null && !each.mayRefuse && each.verdict !== 'right'
    if (values.losses !== undefined && isLost) {
      const loss = await lossOf(index, { world, question, asked: each, now })
      losses.push({
        ...loss,
        detail: `${world.name}\t${each.class}\t${each.verdict}\t${each.question}\t${loss.detail}`,
      })
    }
    for (const rule of values.rules ? telling.taken() : []) {
      const other = await askOne(withoutRule(index, rule), world, question)
      withoutRules.set(rule, [...(withoutRules.get(rule) ?? []), { each, other }])
    }
  }
}
await folded?.save()
await cached?.save()
await opened.close()
printBy('world', asked, (each) => each.world)
printBy('class', asked, (each) => each.class)
printTimes(asked)
printShares(asked)
if (values.rules) printRules(withoutRules)
if (values.losses !== undefined) {
  printLosses(losses)
  const inOrder = losses.toSorted((a, b) => (a.to < b.to ? -1 : 1))
  await writeFile(values.losses, inOrder.map(({ to, detail }) => `${to}\t${detail}\n`).join(''))
}
await mkdir(dirname(values.silent), { recursive: true })
await writeFile(values.silent, silentLines(asked))
console.log(`${asked.filter(({ verdict }) => verdict === 'silent').length} silent ones in ${values.silent}`)
if (values.rows !== undefined) {
  await writeFile(values.rows, asked.map((each) => `${JSON.stringify(each)}\n`).join(''))
}

async function askOne(index: ProjectIndex, world: World, question: WorldQuestion): Promise<Asked> {
  const begun = performance.now()
  const routing = await route(index, question.question, { now, timeZone: 'UTC' })
  return judge(world, question, { routing, elapsedMs: performance.now() - begun, now })
}

function printBy(title: string, all: Asked[], keyOf: (each: Asked) => string): void {
  const groups = [...Map.groupBy(all, keyOf)].sort(([a], [b]) => (a < b ? -1 : 1))
  console.log(
    `\n${title.padEnd(20)} asked  must  ${verdicts.map((each) => each.padStart(7)).join(' ')}  needlessly flagged`,
  )
  for (const [name, group] of [...groups, ['all', all] as const]) {
    const count = (holds: (each: Asked) => boolean): number => group.filter(holds).length
    const must = count((each) => each.expected.query !== null && !each.mayRefuse)
    const counts = verdicts.map((each) => count(({ verdict }) => verdict === each))
    const needless = count(({ verdict, isFlagged }) => verdict === 'right' && isFlagged)
    const shown = counts.map((each) => String(each).padStart(7)).join(' ')
    console.log(
      `${name.padEnd(20)} ${String(group.length).padStart(5)} ${String(must).padStart(5)}  ${shown}  ${needless}`,
    )
    if (name !== 'all') continue
    const [right = 0, , cost = 0, , silent = 0] = counts
    const share = (part: number, of: number): string => `${((100 * part) / of).toFixed(1)} %`
    console.log(
      `right ${share(right, must)} of those that must be answered, cost ${share(cost, must)} of them, silent ${share(silent, group.length)} of all`,
    )
  }
}

function printTimes(all: Asked[]): void {
  const times = all.map(({ elapsedMs }) => elapsedMs).sort((a, b) => a - b)
  const at = (share: number): string => (times[Math.floor(times.length * share)] ?? NaN).toFixed(1)
  console.log(`\ntime of a question: p50 ${at(0.5)} ms, p95 ${at(0.95)} ms`)
}

/** How well the share of an answer tells whether it is right, and the highest that was refused. */
function printShares(all: Asked[]): void {
  const shareOf = ({ explanation }: Asked): number => explanation.confidence ?? 0
  const given = all.filter(({ got }) => got.outcome === 'answer')
  printReliability(given.map((each) => ({ share: shareOf(each), isRight: each.isExpected })))
  const refused = all.filter(({ got }) => got.outcome === 'no_match' || got.outcome === 'unexpressed')
  const least = Math.min(...given.map(shareOf))
  console.log(
    `least share of an answer ${least.toFixed(2)}, most of a refusal ${Math.max(...refused.map(shareOf)).toFixed(2)}`,
  )
}

function silentLines(all: Asked[]): string {
  return all
    .filter(({ verdict }) => verdict === 'silent')
    .map(({ world, class: kind, question, expected, got, explanation: { match } }) => {
      const meant = expected.query === null ? 'nothing' : `${expected.query} ${JSON.stringify(expected.parameters)}`
      const read = match === null ? 'not read' : `read at ${match.toFixed(1)}`
      return `${world}\t${kind}\t${question}\n\texpected ${meant}\n\tgot ${got.query} ${JSON.stringify(got.parameters)} (${read})\n`
    })
    .join('')
}
