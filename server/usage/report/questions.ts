import { underLock, type Database } from '../../store/index.ts'
import { rejectedText } from '../stored/call.ts'
import type { Filter } from './figures.ts'
import { openPartitions } from '../stored/partitions.ts'
import { noteProgress } from '../stored/progress.ts'

/** Top questions of the days for which requests are retained. */
export type TopQuestions = {
  top: Array<{ question: string; count: number; query: string | null }>
  unanswered: Array<{ question: string; count: number; reason: string | null; lastAskedAt: Date }>
}

const hourMs = 3_600_000
const maxQuestions = 10
/** Questions counted of an hour and project, those asked most; a rarer one cannot be among the top. */
const maxAnHour = 100
const progressName = 'question-hour'

/** The same question in other capitals or with other spaces is the same question. */
const same = String.raw`lower(regexp_replace(btrim(question), '\s+', ' ', 'g'))`
/** Each is a batch of its own. */
const isQuestion = `entry = 'question' and question is not null and not ${rejectedText}`

/** Counts the questions of every whole hour before `end` that is not counted yet. */
export async function countQuestions(store: Pick<Database, 'pool'>, end: number): Promise<void> {
  const partitions = openPartitions(store)
  const { rows } = await store.pool.query<{ first: Date | null }>(
    `select coalesce((select until - interval '1 hour' from usage_progress where grain = $1),
                     (select min(start) from request_batches where entry = 'question')) as first`,
    [progressName],
  )
  const first = rows[0]?.first?.getTime()
  if (first === undefined) return
  for (let from = Math.floor(first / hourMs) * hourMs; from + hourMs <= end; from += hourMs) {
    await partitions.ensure({ questions: [from] })
    await countHour(store, new Date(from))
  }
}

async function countHour(store: Pick<Database, 'pool'>, from: Date): Promise<void> {
  const to = new Date(from.getTime() + hourMs)
  await underLock(store, 'questions', async (client) => {
    await client.query('delete from usage_questions where start = $1', [from])
    await client.query(countText, [from, to])
    await noteProgress(client, progressName, to.getTime())
  })
}

const countText = `insert into usage_questions
    (project_id, start, environment, query, key_id, reason, refused, question, same, calls, last_at)
  select project_id, $1, environment, query, key_id, reason, refused, question, same, calls, last_at
    from (select *, dense_rank() over (partition by project_id order by asked desc, same) as place
            from (select *, sum(calls) over (partition by project_id, same) as asked
                    from (select project_id, coalesce(environment, '') as environment, coalesce(query, '') as query,
                                 coalesce(key_id, '') as key_id, coalesce(reason, '') as reason,
                                 status = 422 as refused, min(question) as question, ${same} as same,
                                 count(*) as calls, max(start) as last_at
                            from request_batches where start >= $1 and start < $2 and ${isQuestion}
                           group by 1, 2, 3, 4, 5, 6, 8) as kinds) as summed) as placed
   where place <= ${maxAnHour}`

/** Removes the words of a project's questions from the log of calls: all of them, or those from before a moment. */
export async function forgetWords(
  { db }: Pick<Database, 'db'>,
  { projectId, before }: { projectId: string; before: Date | null },
): Promise<void> {
  await db
    .updateTable('requestBatches')
    .set({ question: null })
    .where('projectId', '=', projectId)
    .where('entry', '=', 'question')
    .where('question', 'is not', null)
    .$if(before !== null, (query) => query.where('start', '<', before ?? new Date(0)))
    .execute()
  await db
    .deleteFrom('usageQuestions')
    .where('projectId', '=', projectId)
    .$if(before !== null, (query) => query.where('start', '<', before ?? new Date(0)))
    .execute()
}

/** Whole hours from their counts, the ends and what is not counted yet from single calls. */
export async function readTopQuestions(
  store: Pick<Database, 'pool'>,
  filter: Filter,
  { from, to }: { from: Date; to: Date },
): Promise<TopQuestions> {
  const refused = refusedOf(filter)
  if (refused === 'none') return { top: [], unanswered: [] }
  const progress = await store.pool.query<{ until: Date }>('select until from usage_progress where grain = $1', [
    progressName,
  ])
  const begin = Math.ceil(from.getTime() / hourMs) * hourMs
  const counted = Math.min(to.getTime(), progress.rows[0]?.until.getTime() ?? 0)
  const end = Math.max(begin, Math.floor(counted / hourMs) * hourMs)
  const values = [
    filter.projectIds,
    from,
    to,
    filter.environment ?? null,
    filter.query ?? null,
    filter.keyId ?? null,
    new Date(begin),
    new Date(end),
    refused,
  ]
  const [top, unanswered] = await Promise.all([
    store.pool.query<TopQuestions['top'][number]>(topText, values),
    store.pool.query<TopQuestions['unanswered'][number]>(unansweredText, values),
  ])
  return { top: top.rows, unanswered: unanswered.rows }
}

/** Questions that a filter by entry and outcome lets through: the refused, the answered, both (null) or none. */
function refusedOf({ entry, status, outcome }: Filter): boolean | null | 'none' {
  if (entry !== undefined && entry !== 'question') return 'none'
  const byStatus = status === undefined ? null : status === 422 ? true : status < 400 ? false : 'none'
  const byOutcome = outcome === undefined ? null : outcome === 'failed'
  if (byStatus === null || byOutcome === null) return byStatus ?? byOutcome
  return byStatus === byOutcome ? byStatus : 'none'
}

const filterText = `project_id = any($1) and ($4::text is null or environment = $4)
  and ($5::text is null or query = $5) and ($6::text is null or key_id = $6)`

/** Two spans apart are read as two: one condition for both would read all that lies between. */
function single(span: string): string {
  return `select question, ${same}, coalesce(query, ''), coalesce(reason, ''), status = 422, 1, start from request_batches
    where ${span} and ${isQuestion} and ${filterText}`
}

const asked = `asked as (
  select question, same, query, reason, refused, calls, last_at from usage_questions
   where start >= $7 and start < $8 and ${filterText}
  union all ${single('start >= $2 and start < least($7, $3)')}
  union all ${single('start >= $8 and start < $3')})`

const topText = `with ${asked},
  kinds as (select same, query, min(question) as question, sum(calls)::bigint as calls from asked
             where $9::boolean is null or refused = $9 group by 1, 2)
  select min(question) as question, sum(calls)::bigint as count,
         (array_agg(query order by calls desc, query) filter (where query <> ''))[1] as query
    from kinds group by same order by count desc, question limit ${maxQuestions}`

const unansweredText = `with ${asked},
  kinds as (select same, reason, min(question) as question, sum(calls)::bigint as calls,
                   max(last_at) as last_at
              from asked
             where refused and ($9::boolean is null or $9) group by 1, 2)
  select min(question) as question, sum(calls)::bigint as count,
         (array_agg(reason order by calls desc, reason) filter (where reason <> ''))[1] as reason,
         max(last_at) as "lastAskedAt"
    from kinds group by same order by count desc, question limit ${maxQuestions}`
