import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { readConstants } from '../../server/router/learned/router-constants.ts'
import { openEncoder } from '../../server/router/index.ts'
import { cachedEncoder } from './cached-encoder.ts'
import { readSets } from './format.ts'
import { checkGoals } from './goals.ts'
import { figuresOf, type Figures, type Judged } from './measure.ts'
import { outcomesOf, type Outcome } from './outcomes.ts'
import { measureScale } from './scale.ts'

/**
 * `npm run bench -- routing <folder> [--cross <folder of constants>] [--cache <path>] [--skip-scale] [--examples 0,5] [--without-reader]`
 * Reads every project file of a folder and prints the figures per set and k. With a cache times mean nothing and are
 * left to the scale run, which never uses one.
 */
const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    cross: { type: 'string' },
    cache: { type: 'string' },
    'skip-scale': { type: 'boolean', default: false },
    'without-reader': { type: 'boolean', default: false },
    examples: { type: 'string', default: '0,1,2,3,5,10' },
    threads: { type: 'string', default: '2' },
  },
})
const sets = await readSets(positionals[0] ?? '.')
const open = await openEncoder({
  modelDir: 'models/question-encoder',
  ...(values['without-reader'] ? {} : { readerDir: 'models/question-reader' }),
  threads: Number(values.threads),
})
const counts = values.examples.split(',').map(Number)
console.log(`encoder: ${open.kind}${open.fallbackReason === null ? '' : ` (${open.fallbackReason})`}`)
const cached = values.cache === undefined ? null : await cachedEncoder(open, values.cache)
const rows: { set: string; k: number; figures: Figures }[] = []
for (const set of sets) {
  const path = values.cross === undefined ? undefined : join(values.cross, `${set.name}.json`)
  const constants = path !== undefined && existsSync(path) ? await readConstants(path) : open.constants
  for (const k of counts.filter((each) => each <= set.maxExamples)) {
    const figures = figuresOf((await outcomesOf({ ...(cached ?? open), constants }, set, k)).map(judge))
    rows.push({ set: set.name, k, figures })
    print(set.name, k, figures)
  }
}
await cached?.save()
checkGoals(rows)
if (!values['skip-scale']) await measureScale(open, sets)
await open.close()

function judge({ question, routing, elapsedMs }: Outcome): Judged {
  const { explanation } = routing
  const names = explanation.candidates.map(({ name }) => name)
  const expected = Object.entries(question.expected_slots)
  const right = names[0] === question.expected_query
  const given = explanation.parameters
  const correct = expected.filter(([slot, value]) => String(given[slot]) === value).length
  return {
    kind: question.expected_query === null ? (question.oos ?? 'far') : 'in',
    seen: question.seen_pattern === true,
    right,
    inTop3: names.slice(0, 3).includes(question.expected_query ?? ''),
    joint: right && correct === expected.length && Object.keys(given).length === expected.length,
    slots: { expected: expected.length, given: Object.keys(explanation.parameters).length, right: correct },
    // Relative to the project's own threshold, so that several projects of a set can be put together.
    confidence: explanation.lead ?? -Infinity,
    answered: routing.outcome === 'answer',
    elapsedMs,
  }
}

function print(set: string, k: number, figures: Figures): void {
  const shown = Object.entries(figures).map(
    ([name, value]) => `${name} ${Number.isNaN(value) ? '-' : value.toFixed(name === 'questions' ? 0 : 1)}`,
  )
  console.log(`${set} k=${k}: ${shown.join(', ')}`)
}
