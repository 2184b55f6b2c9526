import { fieldsOf, type Content, type Described, type Field, type OpenApi, type Schema } from '../../docs/openapi.ts'
import type { SlotsSchema } from '../shared/wire.ts'

/** A project's own OpenAPI document: an operation by POST and one by GET for each query that is deployed. */
export type ProjectDocument = Pick<OpenApi, 'components'> & {
  info: { title: string }
  paths: Record<string, { description?: string; post?: Described }>
}

/** The facts about a query that its callers may see. */
export type DescribedQuery = {
  name: string
  title: string
  about: string
  slots: SlotsSchema
  takes: Field[]
  gives: Field[]
  /** Values that it takes, by the question that they answer. */
  examples: Array<{ question: string; parameters: Record<string, unknown> }>
  /** Where it answers. */
  projectId: string
  environment: string
}

const prefix = '/v1/queries/'

export function readQueries(document: ProjectDocument): DescribedQuery[] {
  return Object.entries(document.paths).flatMap(([path, { description = '', post }]) => {
    if (!path.startsWith(prefix) || post === undefined) return []
    const name = path.slice(prefix.length)
    const schemas = document.components?.schemas ?? {}
    const slots = schemas[`${name}_slots`] ?? {}
    const usual = (of: string): string => String(post.parameters?.find((each) => each.name === of)?.schema?.default)
    return {
      name,
      title: post.summary ?? name,
      about: description,
      slots: asSlots(slots),
      takes: fieldsOf(document, slots),
      gives: fieldsOf(document, schemas[`${name}_row`]),
      examples: examplesOf(post.requestBody?.content),
      projectId: usual('project_id'),
      environment: usual('environment'),
    }
  })
}

/** The document says of slots what their author did. */
function asSlots({ properties = {}, required = [] }: Schema): SlotsSchema {
  return { type: 'object', properties: properties as SlotsSchema['properties'], required, additionalProperties: false }
}

function examplesOf(content: Content | undefined): DescribedQuery['examples'] {
  return Object.values(content?.['application/json']?.examples ?? {}).map(({ summary = '', value }) => ({
    question: summary,
    parameters: (value ?? {}) as Record<string, unknown>,
  }))
}
