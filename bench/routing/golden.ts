import { writeFile } from 'node:fs/promises'
import { parseArgs } from 'node:util'
import { openEncoder } from '../../server/router/index.ts'
import { cachedEncoder, vectorCachePath } from './cached-encoder.ts'
import { readSets, type BenchSet } from './format.ts'
import {
  closedLine,
  compareGolden,
  formatGolden,
  openLine,
  readGolden,
  type GoldenLine,
  type Moved,
} from './golden-file.ts'
import { outcomesOf, type Outcome } from './outcomes.ts'

/**
 * `npm run bench -- golden [<folder of evaluation sets>] [--write]`
 * Asks every question again and prints those whose outcome is not the one in `bench/routing/golden`; with `--write` the
 * files take the new outcomes. Without a folder only our own questions are asked.
 */
const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { write: { type: 'boolean', default: false }, cache: { type: 'string', default: vectorCachePath } },
})
const [folder] = positionals
const encoder = await cachedEncoder(
  await openEncoder({ modelDir: 'models/question-encoder', readerDir: 'models/question-reader', threads: 2 }),
  values.cache,
)
let movedCount = 0
await review('bench/routing/newcomers', 'bench/routing/golden/newcomers.tsv', openLine, ({ maxExamples }) =>
  Array.from({ length: maxExamples + 1 }, (_, k) => k),
)
if (folder !== undefined) {
  await review(folder, 'bench/routing/golden/evaluation-sets.tsv', closedLine, ({ maxExamples }) => [
    ...new Set([0, maxExamples]),
  ])
}
await encoder.save()
await encoder.close()
if (movedCount > 0 && !values.write) process.exitCode = 1

type Asked = Outcome & { set: string; k: number }

async function review(
  from: string,
  path: string,
  lineOf: (asked: Asked) => GoldenLine,
  countsOf: (set: BenchSet) => number[],
): Promise<void> {
  const asked: Asked[] = []
  for (const set of await readSets(from)) {
    for (const k of countsOf(set)) {
      for (const outcome of await outcomesOf(encoder, set, k)) asked.push({ ...outcome, set: set.name, k })
    }
  }
  const lines = asked.map(lineOf)
  const moved = compareGolden(await readGolden(path), lines)
  movedCount += moved.length
  console.log(`${path}: ${lines.length} outcomes, ${moved.length} moved`)
  const byKey = new Map(asked.map((each) => [lineOf(each).key, each]))
  for (const each of moved) print(each, byKey.get(each.key))
  if (values.write) await writeFile(path, formatGolden(lines))
}

function print({ key, before, after }: Moved, asked: Asked | undefined): void {
  const [set, project, k, question] = key.split('\t')
  const text = asked?.question.text ?? question
  console.log(`  ${set}/${project} k=${k} “${text}”`)
  if (asked !== undefined) {
    const { expected_query: query, expected_slots: slots } = asked.question
    console.log(`    expected ${query === null ? 'a refusal' : `${query} ${JSON.stringify(slots)}`}`)
  }
  console.log(`    before   ${shown(before)}`)
  console.log(`    after    ${shown(after)}${asked === undefined ? '' : detailOf(asked)}`)
}

function shown(outcome: string | null): string {
  return outcome === null ? '(none)' : outcome.replaceAll('\t', ' ').trim()
}

function detailOf({ routing: { explanation } }: Asked): string {
  const { candidates, parameters, confidence, lead } = explanation
  const sure = confidence === null ? '' : ` at ${confidence.toFixed(2)}, ahead by ${lead?.toFixed(2)}`
  return ` (${candidates[0]?.name ?? 'nothing'} ${JSON.stringify(parameters)}${sure})`
}
