import { readFile, writeFile } from 'node:fs/promises'
import { parseArgs } from 'node:util'
import { shareNames, type ReadName } from '../../server/router/learned/router-constants.ts'
import { inputsOf } from '../../server/router/ranking/confidence.ts'
import type { Asked } from './judge.ts'
import { fitLogistic } from './logistic.ts'
import { calibrationError, printReliability } from './reliability.ts'

/**
 * `node bench/trust/calibration.ts <rows of bench:trust>… [--write]`
 * Learns with which share an answer is right from the answers that were given in worlds that the reader has not seen,
 * and prints how well a share that was learned without a world holds in it (five folds by world). Rows of both a run
 * with the reader and one without it are wanted: answers that are not read have a share, too.
 */
const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { write: { type: 'boolean', default: false } },
})
const constantsPath = 'models/question-encoder/router_constants.json'
const folds = 5
const minRows = 500

type Row = { world: string; isRight: boolean; isAnswer: boolean; isRead: boolean; inputs: Record<ReadName, number> }
type Weighing = { bias: number; weights: Record<string, number> }

const rows = (await Promise.all(positionals.map(readRows))).flat()
const worlds = [...new Set(rows.map(({ world }) => world))].sort()
const unread = rows.filter(({ isRead }) => !isRead)
const read = rows.filter(({ isRead }) => isRead)
// Rows of a run with the reader alone say too little of answers without it.
const learned = {
  ...(unread.length > minRows && { unread: report('not read', unread, shareNames.unread) }),
  ...(read.length > minRows && { read: report('read', read, shareNames.read) }),
}
console.log(JSON.stringify(learned, null, 2))
if (values.write) {
  const constants = JSON.parse(await readFile(constantsPath, 'utf8')) as { share: object }
  const share = { ...constants.share, ...learned }
  await writeFile(constantsPath, `${JSON.stringify({ ...constants, share }, null, 2)}\n`)
}

/** Answers, and refusals for want of a share: those teach what falling short means, and are not counted. */
async function readRows(path: string): Promise<Row[]> {
  const lines = (await readFile(path, 'utf8')).split('\n').filter((line) => line !== '')
  return lines.flatMap((line): Row[] => {
    const { world, got, isNearestRight, explanation } = JSON.parse(line) as Asked
    const { lead, match, ahead, margin, unused } = explanation
    const isAnswer = got.outcome === 'answer' || got.outcome === 'unsure'
    const isRefused = got.outcome === 'unexpressed' || got.outcome === 'no_match'
    if (lead === null || (!isAnswer && !isRefused)) return []
    const inputs = inputsOf({ lead, match, ahead, margin, hasUnused: unused.length > 0 })
    return [{ world, isRight: isNearestRight, isAnswer, isRead: match !== null, inputs }]
  })
}

function report(title: string, given: Row[], names: readonly ReadName[]): Weighing {
  const judged = Array.from({ length: folds }, (_, fold) => {
    const isHeld = ({ world }: Row): boolean => worlds.indexOf(world) % folds === fold
    const weighing = learn(
      given.filter((row) => !isHeld(row)),
      names,
    )
    const asked = given.filter((row) => row.isAnswer && isHeld(row))
    return asked.map((row) => ({ share: shareOf(weighing, row), isRight: row.isRight }))
  })
  console.log(`\n${title}: ${given.filter(({ isAnswer }) => isAnswer).length} answers of ${worlds.length} worlds`)
  printReliability(judged.flat())
  for (const [fold, own] of judged.entries()) {
    console.log(`fold ${fold}: ${own.length} answers, expected calibration error ${calibrationError(own).toFixed(3)}`)
  }
  return learn(given, names)
}

function learn(given: Row[], names: readonly ReadName[]): Weighing {
  const [bias = 0, ...weights] = fitLogistic(
    given.map(({ inputs, isRight }) => ({ inputs: names.map((name) => inputs[name]), isTrue: isRight })),
  )
  return { bias, weights: Object.fromEntries(names.map((name, at) => [name, weights[at] ?? 0])) }
}

function shareOf({ bias, weights }: Weighing, { inputs }: Row): number {
  const sum = Object.entries(weights).reduce((all, [name, weight]) => all + weight * inputs[name as ReadName], bias)
  return 1 / (1 + Math.exp(-sum))
}
