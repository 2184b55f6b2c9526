import { median } from '../report.ts'
import type { QuestionWorld } from '../question-world.ts'
import type { Row } from '../row.ts'

const warmUps = 150
/** Fewer would say little of how long an answered one takes. */
const leastAnswered = 100

type Asked = { tookMs: number; query: string; parameters: object } | undefined

/** A question over HTTP, then the call it came to, one after the other; those that are refused are left out. */
export const question: Row = {
  name: 'question',
  async measure({ worlds, scale }) {
    const world = await worlds.questions()
    await world.server.settled()
    const [asked, direct]: [number[], number[]] = [[], []]
    let count = 0
    for (const text of world.questions) {
      const found = await ask(world, text)
      if (found === undefined) continue
      const directMs = await callDirectly(world, found)
      count += 1
      if (count <= warmUps * scale) continue
      asked.push(found.tookMs)
      direct.push(directMs)
    }
    if (asked.length < leastAnswered * scale) throw new Error(`only ${asked.length} questions were answered`)
    return [
      {
        what: `question end to end at ${world.many.count.toLocaleString('en')} queries, p50 of ${asked.length} answered`,
        against: 'direct call of the same query',
        ours: `${median(asked).toFixed(1)} ms`,
        theirs: `${median(direct).toFixed(1)} ms`,
        value: median(asked.map((ms, at) => ms - (direct[at] ?? 0))),
        unit: 'ms',
        goal: { less: 2 },
      },
    ]
  },
}

async function post({ port, secret }: QuestionWorld, path: string, body: object) {
  const startedMs = performance.now()
  const answer = await fetch(`http://127.0.0.1:${port}${path}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${secret}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })
  const said = (await answer.json()) as Record<string, unknown>
  return { tookMs: performance.now() - startedMs, status: answer.status, said }
}

async function ask(world: QuestionWorld, query: string): Promise<Asked> {
  const { tookMs, status, said } = await post(world, '/v1/query', { query, project_id: world.many.projectId })
  if (status === 200) return { tookMs, query: String(said['query_used']), parameters: said['parameters'] as object }
  if (status === 422 || status === 400 || status === 404) return undefined
  throw new Error(`A question was answered with ${status}: ${JSON.stringify(said)}`)
}

async function callDirectly(world: QuestionWorld, { query, parameters }: { query: string; parameters: object }) {
  const path = `/v1/queries/${query}?project_id=${world.many.projectId}`
  const { tookMs, status, said } = await post(world, path, parameters)
  if (status !== 200) throw new Error(`${query} was answered with ${status}: ${JSON.stringify(said)}`)
  return tookMs
}
