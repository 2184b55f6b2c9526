import { setTimeout as wait } from 'node:timers/promises'
import { median, ratioOf, type Figure } from '../report.ts'
import type { QueryPlace, QuestionWorld } from '../question-world.ts'
import type { Row } from '../row.ts'

/** A collection of the whole heap, a tenth of a second, falls into every third or so. */
const rounds = 35
/** Two seconds after a release all of its questions are read together, which the next one is not to meet. */
const quietMs = 3_000

/** One query with a new example. Between two releases the service comes to rest, as it does when people release. */
export const deploy: Row = {
  name: 'deploy',
  async measure({ worlds }) {
    const world = await worlds.questions()
    const times: Record<'few' | 'many', number[]> = { few: [], many: [] }
    // The first of each warms up what the process has not read yet.
    for (let round = 0; round <= rounds; round += 1) {
      for (const place of ['few', 'many'] as const) {
        const tookMs = await releaseOne(world, world[place], round)
        if (round > 0) times[place].push(tookMs)
      }
    }
    const figure = (place: QueryPlace, rest: Omit<Figure, 'what' | 'against'>, against = '–'): Figure => ({
      what: `deploy of one query into ${place.count} deployed`,
      against,
      ...rest,
    })
    return [
      figure(world.few, {
        ours: told(times.few),
        theirs: '–',
        value: median(times.few) / 1_000,
        unit: 's',
        goal: { less: 0.3 },
      }),
      figure(
        world.many,
        {
          ours: told(times.many),
          theirs: told(times.few),
          value: ratioOf(times.many, times.few),
          unit: '×',
          goal: { atMost: 2 },
        },
        `into ${world.few.count}`,
      ),
      {
        what: `deploy of ${world.many.count} queries at once`,
        against: '–',
        ours: '–',
        theirs: '–',
        value: world.many.releasedMs / 1_000,
        unit: 's',
        goal: { less: 60 },
      },
    ]
  },
}

/** The times between which half of them lie. */
function told(times: number[]): string {
  const sorted = times.toSorted((left, right) => left - right)
  const at = (share: number): string => (sorted[Math.floor(sorted.length * share)] ?? NaN).toFixed(0)
  return `half of them in ${at(0.25)} to ${at(0.75)} ms`
}

async function releaseOne({ manage, server }: QuestionWorld, place: QueryPlace, round: number): Promise<number> {
  const path = `/v1/projects/${place.projectId}`
  const { name, examples } = place.one
  const other = {
    question: `Once more, the ${round}th time: ${examples[0]?.question ?? name}`,
    parameters: examples[0]?.parameters ?? {},
  }
  await manage(`${path}/queries/${name}`, { examples: [...examples, other] }, 'PUT')
  await wait(quietMs)
  await server.settled()
  const startedMs = performance.now()
  await manage(`${path}/releases`, { environment: 'production', queries: [{ name }], force: true })
  return performance.now() - startedMs
}
