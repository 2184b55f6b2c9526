import type { Tool } from '@modelcontextprotocol/server'
import { askQuestion } from '../../../api/questions.ts'
import { fixedLimits } from '../../../api/limits.ts'
import { Failure, listProblems } from '../../failure.ts'
import type { JsonSchema } from '../../queries/index.ts'
import { rowsSchema } from './answers.ts'
import type { McpConnection } from '../session/connection.ts'
import { readOnly, type QueryTool } from './query-tools.ts'

function object(properties: Record<string, JsonSchema>, required: string[]): Tool['inputSchema'] {
  return { type: 'object', properties, required, additionalProperties: false } as Tool['inputSchema']
}

const whichProject = {
  type: 'string',
  description: 'The project that is meant: this connection reaches several. list_queries names them.',
}
const anyRows = rowsSchema({ type: 'object' })
const values = { type: 'object', description: 'Values by the names of their slots.' }

/** A question in plain language. */
export function askTool({ projectId }: Pick<McpConnection, 'projectId'>): Tool {
  const several = projectId === undefined
  return {
    name: 'ask',
    title: 'Ask in plain language',
    description:
      'Answers a question from the deployed queries: finds the one that answers it, fills in its values and runs it. The answer says which query was used with which parameters, how sure that is, and what of the question it does not express. What no query answers is refused with the nearest candidates; nothing is made up. Prefer a query by its own name where its description fits.',
    inputSchema: object(
      {
        question: { type: 'string', minLength: 1, maxLength: fixedLimits.questionChars.value },
        parameters: { ...values, description: 'Values that stand whatever the question says, by the names of slots.' },
        query_name: { type: 'string', description: 'The query that is meant, after a refusal that named several.' },
        time_zone: {
          type: 'string',
          description: 'In which “today” is meant, such as Europe/Berlin; UTC if left out.',
        },
        strict: { type: 'boolean', description: 'Refuse also what is only perhaps not expressed.' },
        partial: { type: 'boolean', description: 'Answer although words of the question are left out.' },
        follows: { type: 'string', description: 'request_id of the answer that this question goes on from.' },
        ...(several && { project_id: whichProject }),
      },
      several ? ['question', 'project_id'] : ['question'],
    ),
    outputSchema: {
      type: 'object',
      properties: {
        query_used: { type: 'string' },
        parameters: { type: 'object' },
        confidence: {
          type: ['number', 'null'],
          description: 'From 0 to 1; of answers with 0.9, nine in ten are right.',
        },
        unexpressed: {
          type: 'array',
          items: { type: 'object' },
          description: 'Words of the question that the query perhaps does not express.',
        },
        unused: { type: 'array', items: { type: 'string' }, description: 'Values in the question that fill no slot.' },
        request_id: { type: 'string', description: 'For the next question that goes on from this one.' },
        ...anyRows.properties,
        error: {
          type: 'string',
          description: 'Only of a refusal, which has this and none of the above but request_id.',
        },
        reason: { type: 'string', description: 'Why: no_match, ambiguous, missing_slots, unexpressed or unsure.' },
        message: { type: 'string' },
        candidates: {
          type: 'array',
          items: { type: 'object' },
          description: 'The nearest queries: ask again with query_name, or call one.',
        },
      },
      required: ['request_id'],
    },
    annotations: { title: 'Ask in plain language', ...readOnly },
  }
}

/** The two that stand in for the queries where there are too many to list. */
export function searchTools(): Tool[] {
  return [
    {
      name: 'list_queries',
      title: 'Find queries',
      description:
        'Finds deployed queries by words in their names, descriptions, example questions, slots and columns. Call one of them with call_query.',
      inputSchema: object(
        {
          words: { type: 'string', maxLength: 500, description: 'Any words; left out, all queries by name.' },
          limit: { type: 'integer', minimum: 1, maximum: maxFound, default: usualFound },
        },
        [],
      ),
      outputSchema: {
        type: 'object',
        properties: {
          queries: { type: 'array', items: { type: 'object' } },
          total: { type: 'integer', description: 'How many there are that fit.' },
        },
        required: ['queries', 'total'],
      },
      annotations: { title: 'Find queries', ...readOnly },
    },
    {
      name: 'call_query',
      title: 'Call a query',
      description: 'Calls a query that list_queries found, by its name there.',
      inputSchema: object({ name: { type: 'string' }, parameters: values }, ['name']),
      outputSchema: { type: 'object', ...anyRows },
      annotations: { title: 'Call a query', ...readOnly },
    },
  ]
}

const maxFound = 50
const usualFound = 10

/** Queries by how many of the words they speak of, then by name. */
export function searchQueries(
  tools: QueryTool[],
  given: Record<string, unknown>,
): { queries: Array<Record<string, unknown>>; total: number } {
  const { words = '', limit = usualFound, ...others } = given
  refuseUnknown(others, ['words', 'limit'])
  if (typeof words !== 'string' || words.length > 500)
    throw wrongField('words', 'must be a text of at most 500 letters')
  if (typeof limit !== 'number' || !Number.isInteger(limit) || limit < 1 || limit > maxFound) {
    throw wrongField('limit', `must be a whole number from 1 to ${maxFound}`)
  }
  const wanted = wordsOf(words)
  const scored = tools
    .map((tool) => ({ tool, score: scoreOf(tool, wanted) }))
    .filter(({ score }) => wanted.length === 0 || score > 0)
    .toSorted((one, other) => other.score - one.score || (one.tool.tool < other.tool.tool ? -1 : 1))
  const queries = scored.slice(0, limit).map(({ tool: { tool, projectId, contract } }) => ({
    name: tool,
    project_id: projectId,
    title: contract.title,
    description: contract.description,
    input: contract.input,
    columns: Object.keys(contract.output.properties),
    examples: contract.examples.slice(0, 3).map(({ question }) => question),
  }))
  return { queries, total: scored.length }
}

function wordsOf(text: string): string[] {
  return [...new Set(text.toLowerCase().match(/[\p{L}\p{N}]+/gu))].slice(0, 50)
}

/** A word of the name counts more than one of an example. */
function scoreOf({ contract }: QueryTool, wanted: string[]): number {
  const { name, description, input, output, examples } = contract
  const places: Array<[weight: number, texts: string]> = [
    [4, name],
    [2, description],
    [2, Object.keys(input.properties).join(' ')],
    [1, Object.keys(output.properties).join(' ')],
    [1, examples.map(({ question }) => question).join(' ')],
  ]
  let score = 0
  for (const [weight, texts] of places) {
    const there = wordsOf(texts)
    for (const word of wanted) if (there.some((each) => isSameWord(each, word))) score += weight
  }
  return score
}

const leastStem = 3

/** “Orders” finds “order”, and the other way round. */
function isSameWord(one: string, other: string): boolean {
  const [shorter, longer] = one.length < other.length ? [one, other] : [other, one]
  return one === other || (shorter.length >= leastStem && longer.startsWith(shorter))
}

/** Arguments of `call_query`. */
export function calledQuery(given: Record<string, unknown>): { name: string; parameters: Record<string, unknown> } {
  const { name, parameters = {}, ...others } = given
  refuseUnknown(others, ['name', 'parameters'])
  if (typeof name !== 'string') throw wrongField('name', 'must be the name of a query, as list_queries gives it')
  if (!isObject(parameters)) throw wrongField('parameters', 'must be an object')
  return { name, parameters }
}

const askedFields = new Set(['parameters', 'query_name', 'time_zone', 'strict', 'partial', 'follows'])

/** Arguments of `ask`, by the same rules as `POST /v1/query`. */
export function askedQuestion({ projectId }: Pick<McpConnection, 'projectId'>, given: Record<string, unknown>) {
  const { question, project_id: named = projectId, ...others } = given
  refuseUnknown(Object.fromEntries(Object.entries(others).filter(([name]) => !askedFields.has(name))), [
    'question',
    ...askedFields,
  ])
  const read = askQuestion.safeParse({ ...others, query: question, project_id: named })
  if (read.success) return read.data
  const details = read.error.issues.map(({ path, message }) => {
    const [first = 'question', ...rest] = path.map(String)
    return { field: [first === 'query' ? 'question' : first, ...rest].join('.'), message }
  })
  throw new Failure('invalid_query', {
    reason: 'invalid_field',
    message: `The question is not as expected: ${listProblems(details)}.`,
    details,
  })
}

function refuseUnknown(others: Record<string, unknown>, known: string[]): void {
  const [name] = Object.keys(others)
  if (name !== undefined) throw wrongField(name, `is not known; there are ${known.join(', ')}`)
}

function wrongField(field: string, message: string): Failure {
  return new Failure('invalid_query', {
    reason: 'invalid_field',
    message: `${field} ${message}.`,
    details: [{ field, message }],
  })
}

export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
