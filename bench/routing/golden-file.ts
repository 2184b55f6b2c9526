import { createHash } from 'node:crypto'
import { existsSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import type { Outcome } from './outcomes.ts'

/** One line of a golden file: which question it was, and what became of it. */
export type GoldenLine = { key: string; outcome: string }

/** A question whose line differs from the golden file's; null: the file, or the run, does not have it. */
export type Moved = { key: string; before: string | null; after: string | null }

type Asked = Outcome & { set: string; k: number }

/** Our own questions stand in the file as they are, so that a difference can be read in it. */
export function openLine({ set, k, project, question, routing }: Asked): GoldenLine {
  return {
    key: [set, project.project, k, question.text].join('\t'),
    outcome: [routing.outcome, queryOf(routing), 'query' in routing ? stable(routing.parameters) : ''].join('\t'),
  }
}

/**
 * Questions of evaluation sets must not be in this repository: digests of the question and of its parameters, and the
 * place of the query in its project, say whether an answer moved and nothing else.
 */
export function closedLine({ set, k, project, question, routing }: Asked): GoldenLine {
  const place = project.queries.findIndex(({ name }) => name === queryOf(routing))
  return {
    key: [set, project.project, k, digest(question.text)].join('\t'),
    outcome: [
      routing.outcome,
      place < 0 ? '' : place,
      'query' in routing ? digest(stable(routing.parameters)) : '',
    ].join('\t'),
  }
}

/** The nearest query too where nothing answers: which one a refusal names is part of the outcome. */
function queryOf(routing: Outcome['routing']): string {
  return 'query' in routing ? routing.query : (routing.explanation.candidates[0]?.name ?? '')
}

function stable(parameters: Record<string, unknown>): string {
  return JSON.stringify(Object.fromEntries(Object.entries(parameters).sort(([a], [b]) => (a < b ? -1 : 1))))
}

function digest(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, 10)
}

export function formatGolden(lines: GoldenLine[]): string {
  return lines.map(({ key, outcome }) => `${key}\t${outcome}\n`).join('')
}

const keyFields = 4

export async function readGolden(path: string): Promise<GoldenLine[]> {
  if (!existsSync(path)) return []
  return parseGolden(await readFile(path, 'utf8'))
}

export function parseGolden(text: string): GoldenLine[] {
  return text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => {
      const fields = line.split('\t')
      return { key: fields.slice(0, keyFields).join('\t'), outcome: fields.slice(keyFields).join('\t') }
    })
}

/** A question that a set holds twice is compared in the order it comes. */
export function compareGolden(before: GoldenLine[], after: GoldenLine[]): Moved[] {
  const known = Map.groupBy(before, ({ key }) => key)
  const moved = after.flatMap(({ key, outcome }): Moved[] => {
    const earlier = known.get(key)?.shift()?.outcome ?? null
    return earlier === outcome ? [] : [{ key, before: earlier, after: outcome }]
  })
  const gone = [...known.values()].flat().map(({ key, outcome }) => ({ key, before: outcome, after: null }))
  return [...moved, ...gone]
}
