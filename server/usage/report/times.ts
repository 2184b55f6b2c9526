import { inTransaction, type Database } from '../../store/index.ts'
import { addLatency, type Latencies } from '../stored/latencies.ts'

/** Figures with their `buckets` and `counts`, as a statement. */
export type Source = { text: string; values: unknown[] }

/** Adding up as many takes some milliseconds: others get their turn in between. */
const rowsAtOnce = 1_000

/**
 * Latencies by a column of the source. PostgreSQL gives the rows and this process adds them up: unnesting and
 * grouping them there takes three times as long, and a cursor keeps no more than a thousand of them here.
 */
export async function readTimesBy<Key>(
  store: Pick<Database, 'pool'>,
  { text, values }: Source,
  column: 'piece' | 'query',
): Promise<Map<Key, Latencies>> {
  const times = new Map<Key, Latencies>()
  await inTransaction(store, async (connection) => {
    await connection.query(
      `declare times no scroll cursor for with calls as (${text})
       select ${column} as key, buckets::text, counts::text from calls`,
      values,
    )
    let isMore = true
    while (isMore) {
      const { rows } = await connection.query<{ key: Key; buckets: string; counts: string }>(
        `fetch ${rowsAtOnce} from times`,
      )
      for (const { key, buckets, counts } of rows) {
        let latencies = times.get(key)
        if (latencies === undefined) times.set(key, (latencies = new Map()))
        const each = numbers(counts)
        numbers(buckets).forEach((bucket, at) => addLatency(latencies, bucket, each[at]))
      }
      isMore = rows.length === rowsAtOnce
    }
  })
  return times
}

const [minus, nought, nine] = [45, 48, 57]

/** "{1,-2,3}", as PostgreSQL writes an array of integers. Most of a report's time is spent here, so digit by digit. */
function numbers(text: string): number[] {
  if (text === '{}') return []
  const found: number[] = []
  let [value, sign] = [0, 1]
  // The brace at the end closes the last number as a comma does the others.
  for (let at = 1; at < text.length; at += 1) {
    const code = text.charCodeAt(at)
    if (code >= nought && code <= nine) value = value * 10 + code - nought
    else if (code === minus) sign = -1
    else {
      found.push(sign * value)
      value = 0
      sign = 1
    }
  }
  return found
}
