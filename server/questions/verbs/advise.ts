import type { SlotSchema, SlotsSchema } from '../../../api/slots.ts'
import { requireRole, type Caller } from '../../access/index.ts'
import type { Catalogs, QueryEngine, SqlFacets } from '../../data/index.ts'
import { isFunctionWord } from '../../language/index.ts'
import { findQuery, inspectQuery, type Deployments, type Query } from '../../queries/index.ts'
import { closeExamples, spoken, type CloseExample } from '../../router/index.ts'
import type { Database } from '../../store/index.ts'
import type { Router } from '../indexes/open-indexes.ts'
import { routable } from '../indexes/snapshot.ts'
import { facetsToSay, stemsOf } from './facet-words.ts'

/** Something about a draft that makes questions go astray, and a change that would mend it. */
export type Advice = {
  kind: 'close_question' | 'unsaid' | 'wordless_slot' | 'no_examples'
  message: string
  /** Words, a slot or a query that it is about. */
  about: string | null
  /** The query that comes too close. */
  rival: string | null
  /** What taking it changes in the draft; null where only its author can tell. */
  change: { description?: string; slots?: SlotsSchema } | null
}

type Parts = {
  store: Database
  catalogs: Catalogs
  engine: QueryEngine
  deployments: Deployments
  router: Router
}

const maxClose = 10

/**
 * What would make questions find a draft more surely: what its SQL does and its texts do not say, slots that nothing is
 * said of, and questions that it and another query come close to. Nothing outside is asked for it.
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
  const { facets } = await inspectQuery(app, caller, { projectId, sql, slots })
  const index = await app.router.trial({ projectId, environment, only: null }, [routable(draft)])
  const close = await closeExamples(index, name, maxClose)
  return [
    ...unsaidFacets(draft, facets),
    ...wordlessSlots(draft, facets),
    ...fewExamples(draft),
    ...close.map(tooClose(name)),
  ]
}

/** "By month" is nowhere in the description of a monthly query. Its name may say it, too. */
function unsaidFacets({ name, description }: Query, facets: SqlFacets): Advice[] {
  const told = description.trim() === '' ? spoken(name) : description
  const said = stemsOf(`${spoken(name)} ${description}`)
  return facetsToSay(facets)
    .filter(({ isSaid }) => !isSaid(said))
    .map(({ means, ending }) => ({
      kind: 'unsaid',
      message: `The query ${means}, and its description does not say so.`,
      about: ending,
      rival: null,
      change: { description: withEnding(told, ending) },
    }))
}

function withEnding(description: string, ending: string): string {
  const text = description.trim()
  return `${text.replace(/[.\s]+$/u, '')}, ${ending}${text.endsWith('.') ? '.' : ''}`
}

/** A slot that is called `x1` and never described: nobody knows what to say for it. */
function wordlessSlots({ slots, description, examples }: Query, facets: SqlFacets): Advice[] {
  const said = stemsOf([description, ...examples.map(({ question }) => question)].join(' '))
  return Object.entries(slots.properties).flatMap(([name, schema]): Advice[] => {
    const item = schema.type === 'array' ? schema.items : schema
    const told = [schema.description, schema.title, item.description, item.title]
    if (told.some((text) => (text ?? '').trim() !== '')) return []
    const own = [...stemsOf(spoken(name))].filter((word) => word.length > 2 && !isFunctionWord(word))
    if (own.some((word) => said.has(word))) return []
    const words = wordsFor(name, facets.slots[name])
    const properties = { ...slots.properties, [name]: { ...schema, description: words } as SlotSchema }
    return [
      {
        kind: 'wordless_slot',
        message: `Nothing says what ${name} is: it has no description, and neither the description nor an example of the query uses its name.`,
        about: name,
        rival: null,
        change: { slots: { ...slots, properties } },
      },
    ]
  })
}

function wordsFor(name: string, seen: SqlFacets['slots'][string] | undefined): string {
  if (seen?.use === 'limit') return 'How many rows at most'
  const column = spoken(seen?.column ?? name)
  if (seen?.use === 'least') return `The least ${column}`
  return seen?.use === 'most' ? `The most ${column}` : `The ${column}`
}

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
