import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { fixedLimits } from '../../api/limits.ts'
import { openEncoder, buildIndex } from '../../server/router/index.ts'
import { featureNames } from '../../server/router/learned/router-constants.ts'
import { confidence, confidenceInputs, rank, shareOfMany } from '../../server/router/ranking/confidence.ts'
import { read, route } from '../../server/router/route.ts'
import { benchClock } from './collect.ts'
import { readSets, toProject } from './format.ts'

/**
 * `node bench/routing/explain.ts <project> "<question>" [--folder bench/routing/newcomers] [--examples 2]`
 * Prints how a question is scored, number by number: what each feature adds to the two best queries, and what each
 * input adds to the confidence. The pages about scoring quote it.
 */
const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    folder: { type: 'string', default: join('bench', 'routing', 'newcomers') },
    examples: { type: 'string', default: '2' },
  },
})
const [name = '', question = ''] = positionals
const projects = (await readSets(values.folder)).flatMap((set) => set.projects)
const project = projects.find((each) => each.project === name)
if (project === undefined)
  throw new Error(`No project ${name}; there are ${projects.map((each) => each.project).join(', ')}.`)
if (question.length > fixedLimits.questionChars.value) throw new Error('The question is too long.')
const encoder = await openEncoder({ modelDir: 'models/question-encoder', threads: 1 })
const index = await buildIndex(encoder, toProject(project, Number(values.examples)))
const evidence = await read(index, question, benchClock)
const ranked = rank(index, evidence)
const { ranker, confidence: learned } = encoder.constants
console.log(`question  ${question}\nmasked    ${evidence.asked.shape.masked}\n`)
const best = ranked.slice(0, 2)
const nameOf = (at: number): string => index.queries[best[at]?.candidate.query ?? -1]?.query.name ?? '-'
table(
  ['feature', 'weight', nameOf(0), 'adds', nameOf(1), 'adds'],
  [
    ...featureNames.map((feature) => [
      feature,
      ranker[feature],
      ...best.flatMap(({ candidate: { features } }) => [features[feature], ranker[feature] * features[feature]]),
    ]),
    ['score', '', ...best.flatMap(({ score }) => ['', score])],
  ],
)
const inputs = confidenceInputs(evidence, ranked, index.calibration)
for (const size of ['many', 'few'] as const) {
  const { bias, weights } = learned[size]
  const parts = Object.entries(weights).map(([input, weight]) => ({
    input,
    weight,
    value: inputs[input as keyof typeof inputs],
  }))
  table(
    [`confidence, ${size} queries`, 'weight', 'value', 'adds'],
    [
      ...parts.map(({ input, weight, value }) => [input, weight, value, weight * value]),
      ['bias', '', '', bias],
      ['sum', '', '', parts.reduce((sum, { weight, value }) => sum + weight * value, bias)],
    ],
  )
}
const share = shareOfMany(index.queries.length)
console.log(`queries ${index.queries.length}, so “many” counts ${share.toFixed(3)} and “few” ${(1 - share).toFixed(3)}`)
console.log(
  `confidence ${confidence(encoder.constants, index.queries.length, inputs).toFixed(3)}, threshold ${index.calibration.threshold.toFixed(3)}`,
)
const { explanation, ...routing } = await route(index, question, benchClock)
console.log(
  `${JSON.stringify(routing)}, margin ${explanation.margin?.toFixed(3) ?? 'none'} of at least ${explanation.minMargin}`,
)
await encoder.close()

function table(head: string[], rows: Array<Array<string | number | undefined>>): void {
  const cells = [
    head,
    ...rows.map((row) => row.map((cell) => (typeof cell === 'number' ? cell.toFixed(3) : (cell ?? '')))),
  ]
  const widths = head.map((_, column) => Math.max(...cells.map((row) => (row[column] ?? '').length)))
  for (const row of cells)
    console.log(
      row
        .map((cell, column) => cell.padEnd(widths[column] ?? 0))
        .join('  ')
        .trimEnd(),
    )
  console.log('')
}
