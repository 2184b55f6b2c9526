import type { Value } from '../../../api/wire-codec.ts'
import type { queryAdvice } from '../../../api/queries.ts'
import type { SlotSchema } from '../../../api/slots.ts'
import { requireRole, type Caller } from '../../access/index.ts'
import type { Catalogs } from '../../data/index.ts'
import type { QueryEngine, SqlFacets } from '../../engine/index.ts'
import { isFunctionWord } from '../../language/index.ts'
import { findQuery, inspectQuery, type Deployments, type Query, type QueryBounds } from '../../queries/index.ts'
import { closeExamples, rangeEndOf, spoken, type CloseExample } from '../../router/index.ts'
import type { Database } from '../../store/index.ts'
import type { QuestionIndexes } from '../indexes/open-indexes.ts'
import { routable } from '../indexes/snapshot.ts'
import { facetsToSay, stemsOf } from './facet-words.ts'

/** Something about a draft that makes questions go astray, and a change that would mend it. */
export type Advice = Value<typeof queryAdvice>

type Parts = {
  store: Database
  catalogs: Catalogs
  engine: QueryEngine
  deployments: Deployments
  questionIndexes: QuestionIndexes
}

const maxClose = 10

/**
 * Advice that makes questions find a draft more surely: what its SQL does and its texts do not say, slots that
 * nothing is said of, and questions that it and another query come close to. Nothing outside is asked for it.
 */
export async function adviseQuery(
  app: Parts,
  caller: Caller,
  input: { projectId: string; name: string; environment: string },
): Promise<Advice[]> {
  const { projectId, name, environment } = input
  await requireRole(app, caller, projectId, 'editor')
  const draft = await findQuery(app, caller, { projectId, name })
  const { sql, slots } = draft
  const { facets, ...bounds } = await inspectQuery(app, caller, { projectId, sql, slots })
  const index = await app.questionIndexes.trial({ projectId, environment, only: null }, [routable(draft)])
  const close = await closeExamples(index, name, maxClose)
  return [
    ...periodEnds(bounds),
    ...unsaidFacets(draft, facets),
    ...wordlessSlots(draft, facets),
    ...fewExamples(draft),
    ...close.map(tooClose(name)),
  ]
}

/** Ends of periods that the SQL loses, with SQL that does not; and slots of which it is not known. */
function periodEnds({ bounds, mendedSql }: QueryBounds): Advice[] {
  return (bounds ?? []).flatMap(({ slot, side, problem }): Advice[] => {
    const common = { message: problem?.message ?? '', about: slot, rival: null }
    if (problem?.reason === 'period_end') {
      return [{ ...common, kind: 'period_end', change: mendedSql === null ? null : { sql: mendedSql } }]
    }
    // A slot that names one day bounds no range.
    const isEnd = side !== null || rangeEndOf(slot) !== null
    return problem !== null && isEnd ? [{ ...common, kind: 'unread_bound', change: null }] : []
  })
}

/** "By month" is nowhere in the description of a monthly query. Its name may say it, too. */
function unsaidFacets({ name, description }: Query, facets: SqlFacets): Advice[] {
  const text = description.trim() === '' ? spoken(name) : description
  const stems = stemsOf(`${spoken(name)} ${description}`)
  return facetsToSay(facets)
    .filter(({ isDescribed }) => !isDescribed(stems))
    .map(({ means, ending }) => ({
      kind: 'unsaid',
      message: `The query ${means}, and its description does not say so.`,
      about: ending,
      rival: null,
      change: { description: withEnding(text, ending) },
    }))
}

function withEnding(description: string, ending: string): string {
  const text = description.trim()
  return `${text.replace(/[.\s]+$/u, '')}, ${ending}${text.endsWith('.') ? '.' : ''}`
}

/** A slot that is called `x1` and never described: nobody knows what to say for it. */
function wordlessSlots({ slots, description, examples }: Query, facets: SqlFacets): Advice[] {
  const stems = stemsOf([description, ...examples.map(({ question }) => question)].join(' '))
  return Object.entries(slots.properties).flatMap(([name, schema]): Advice[] => {
    const item = schema.type === 'array' ? schema.items : schema
    const texts = [schema.description, schema.title, item.description, item.title]
    if (texts.some((text) => (text ?? '').trim() !== '')) return []
    const own = [...stemsOf(spoken(name))].filter((word) => word.length > 2 && !isFunctionWord(word))
    if (own.some((word) => stems.has(word))) return []
    const isDay = item.type === 'string' && (item.format === 'date' || item.format === 'date-time')
    const words = wordsFor(name, isDay, facets.slots[name])
    const properties = { ...slots.properties, [name]: { ...schema, description: words } as SlotSchema }
    return [
      {
        kind: 'wordless_slot',
        message: `\`${name}\` has no description, and neither the description nor an example of the query uses its name.`,
        about: name,
        rival: null,
        change: { slots: { ...slots, properties } },
      },
    ]
  })
}

function wordsFor(name: string, isDay: boolean, seen: SqlFacets['slots'][string] | undefined): string {
  if (seen?.use === 'limit') return 'How many rows at most'
  const column = spoken(seen?.column ?? name)
  if (seen?.use === 'least') return isDay ? sentenceOf(`${column} on or after`) : `Minimum ${column}`
  if (seen?.use === 'most') return isDay ? sentenceOf(`${column} on or before`) : `Maximum ${column}`
  return sentenceOf(column)
}

const sentenceOf = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1)

function fewExamples({ examples }: Query): Advice[] {
  if (examples.length > 0) return []
  const message = 'The query has no example questions: two or three, as people would ask, teach most.'
  return [{ kind: 'no_examples', message, about: null, rival: null, change: null }]
}

const tooClose =
  (name: string) =>
  ({ question, query, rival }: CloseExample): Advice => {
    const other = query === name ? rival : query
    const message =
      query === name
        ? `Without this example, ${rival} would come as near to “${question}”: say in the description what sets the two apart.`
        : `“${question}” is an example of ${query}, and this query comes as near to it: say in the description what sets the two apart.`
    return { kind: 'close_question', message, about: question, rival: other, change: null }
  }
