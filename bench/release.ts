/**
 * What a release costs: `node bench/release.ts`. One query into 10 deployed ones, one into 1,000, and 1,000 at once, each
 * with four examples and a slot. Goals: into 1,000 at most twice into 10; 1,000 at once under 60 s on two cores. Between
 * two releases of one query the index of questions is left to settle, as it is when people release.
 */
import { setTimeout as wait } from 'node:timers/promises'
import { madeUpSubjects } from '../test/harness/made-up-subjects.ts'
import { median, openBenchApp } from './serve.ts'

const [few, many] = [10, 1_000]
const rounds = 9
const settleMs = 8_000

const bench = await openBenchApp({ table: { name: 'data', rows: rows() }, queries: [] })
try {
  const small = await openPlace(few)
  const large = await openPlace(many)
  console.log(`${many} queries at once: ${(large.firstMs / 1000).toFixed(1)} s (goal 60)`)
  const times: Record<'small' | 'large', number[]> = { small: [], large: [] }
  // The first of each warms up what the process has not read yet.
  for (let round = 0; round <= rounds; round += 1) {
    times.small.push(await small.releaseOne(round))
    times.large.push(await large.releaseOne(round))
  }
  const [into10, into1000] = [median(times.small.slice(1)), median(times.large.slice(1))]
  console.log(`1 query into ${few}: ${into10.toFixed(0)} ms (${told(times.small)})`)
  console.log(`1 query into ${many}: ${into1000.toFixed(0)} ms (${told(times.large)})`)
  console.log(`ratio ${(into1000 / into10).toFixed(2)} (goal 2)`)
} finally {
  await bench.close()
  await bench.remove()
}
process.exit(0)

function told(times: number[]): string {
  return `first ${times[0]?.toFixed(0)}, then ${times
    .slice(1)
    .map((each) => each.toFixed(0))
    .join(', ')}`
}

/** A project with so many queries deployed, and one more to release again and again. */
async function openPlace(count: number) {
  const { id: projectId } = await bench.manage('/v1/projects', { name: `Of ${count}` })
  await bench.putTable(projectId, { name: 'data', rows: rows() })
  const path = `/v1/projects/${projectId}`
  const queries = Array.from({ length: count }, (_, at) => queryOf(at))
  await bench.manage(`${path}/definition`, { definition: 1, queries }, 'PUT')
  const release = async (body: object): Promise<number> => {
    const startMs = performance.now()
    await bench.manage(`${path}/releases`, { environment: 'production', ...body })
    return performance.now() - startMs
  }
  // Made-up queries are closer to each other than those of people: what is measured is the time.
  const firstMs = await release({ queries: 'all', force: true })
  await bench.manage(`${path}/queries`, queryOf(count))
  return {
    firstMs,
    async releaseOne(round: number): Promise<number> {
      const { examples, name } = queryOf(count)
      const other = [...examples, { question: `Round ${round}: figures of subject ${count} please`, parameters: {} }]
      await bench.manage(`${path}/queries/${name}`, { examples: other }, 'PUT')
      await wait(settleMs)
      return release({ queries: [{ name }], force: true })
    },
  }
}

function queryOf(at: number) {
  const { noun, verb } = madeUpSubjects[at % madeUpSubjects.length] ?? { noun: 'things', verb: 'done' }
  const subject = `${noun} ${verb} in group ${at}`
  return {
    name: `query_${at}`,
    description: `The ${subject} of a region`,
    sql: `SELECT ${at} AS n, id, region FROM data WHERE region = $region`,
    slots: {
      type: 'object',
      properties: { region: { type: 'string', enum: ['north', 'south', 'east', 'west'] } },
      required: ['region'],
    },
    examples: [
      { question: `Show the ${subject} for the north`, parameters: { region: 'north' } },
      { question: `How many ${subject} are there in the south?`, parameters: { region: 'south' } },
      { question: `${subject} of the east`, parameters: { region: 'east' } },
      { question: `I need all ${subject} from the west`, parameters: { region: 'west' } },
    ],
  }
}

function* rows(): Generator<object> {
  for (let id = 0; id < 1_000; id += 1) yield { id, region: ['north', 'south', 'east', 'west'][id % 4] }
}
