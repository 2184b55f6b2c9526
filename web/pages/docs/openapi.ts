/** The part of an OpenAPI document that the reference shows. */
export type Schema = {
  $ref?: string
  type?: string | string[]
  format?: string
  description?: string
  enum?: unknown[]
  const?: unknown
  default?: unknown
  properties?: Record<string, Schema>
  required?: string[]
  items?: Schema
  anyOf?: Schema[]
  oneOf?: Schema[]
  allOf?: Schema[]
}
type Example = { summary?: string; value?: unknown }
export type Content = Record<string, { schema?: Schema; examples?: Record<string, Example> }>
type Parameter = { name: string; in: string; required?: boolean; schema?: Schema; description?: string }
export type Described = {
  summary?: string
  description?: string
  tags?: string[]
  parameters?: Parameter[]
  requestBody?: { content?: Content }
  responses?: Record<string, { description?: string; content?: Content }>
}
export type OpenApi = {
  tags?: Array<{ name: string; description?: string }>
  paths: Record<string, Record<string, Described>>
  components?: { schemas?: Record<string, Schema> }
}

/** The target of a reference in the document. */
type Named = Pick<OpenApi, 'components'>

export type Field = { name: string; type: string; required: boolean; about: string }
export type Operation = {
  id: string
  method: string
  path: string
  summary: string
  description: string
  sends: Field[]
  gets: Field[]
}
export type Chapter = { name: string; about: string; operations: Operation[] }

const methods = ['get', 'post', 'put', 'patch', 'delete']

/** The document as chapters, in its own order. */
export function readChapters(document: OpenApi): Chapter[] {
  return (document.tags ?? []).map(({ name, description = '' }) => ({
    name,
    about: description,
    operations: Object.entries(document.paths).flatMap(([path, operations]) =>
      methods.flatMap((method) => {
        const found = operations[method]
        return found?.tags?.includes(name) === true ? [operationOf(document, method, path, found)] : []
      }),
    ),
  }))
}

function operationOf(document: OpenApi, method: string, path: string, described: Described): Operation {
  const { summary = '', description = '', parameters = [], requestBody, responses = {} } = described
  const success = Object.entries(responses).find(([status]) => status.startsWith('2'))?.[1]
  return {
    id: `${method} ${path}`,
    method: method.toUpperCase(),
    path,
    summary,
    description,
    sends: [
      ...parameters.map((parameter) => ({
        name: parameter.name,
        type: `${sayType(parameter.schema ?? {})}, in the ${parameter.in}`,
        required: parameter.required ?? false,
        about: parameter.description ?? parameter.schema?.description ?? '',
      })),
      ...fieldsOf(document, schemaOf(requestBody?.content)),
    ],
    gets: fieldsOf(document, schemaOf(success?.content)),
  }
}

function schemaOf(content: Content | undefined): Schema | undefined {
  return content === undefined ? undefined : Object.values(content)[0]?.schema
}

/** The properties of an object, by name. */
export function fieldsOf(document: Named, schema: Schema | undefined): Field[] {
  const found = resolve(document, schema)
  if (found === undefined) return []
  const parts = [...(found.anyOf ?? []), ...(found.oneOf ?? []), ...(found.allOf ?? [])]
  if (found.properties === undefined) return parts.flatMap((part) => fieldsOf(document, part)).filter(isFirst)
  return Object.entries(found.properties).map(([name, property]) => {
    const inner = resolve(document, property)
    return {
      name,
      type: sayType(property.$ref === undefined ? property : { ...inner, type: nameOf(property.$ref) }),
      required: found.required?.includes(name) ?? false,
      about: property.description ?? inner?.description ?? '',
    }
  })
}

function isFirst(field: Field, at: number, all: Field[]): boolean {
  return all.findIndex(({ name }) => name === field.name) === at
}

function resolve(document: Named, schema: Schema | undefined): Schema | undefined {
  if (schema?.$ref === undefined) return schema
  return document.components?.schemas?.[nameOf(schema.$ref)]
}

function nameOf(reference: string): string {
  return reference.split('/').at(-1) ?? ''
}

function sayType(schema: Schema): string {
  if (schema.$ref !== undefined) return nameOf(schema.$ref)
  if (schema.enum !== undefined) return `one of ${schema.enum.map(String).join(', ')}`
  if (schema.const !== undefined) return JSON.stringify(schema.const)
  const parts = [...(schema.anyOf ?? []), ...(schema.oneOf ?? [])]
  if (parts.length > 0) return [...new Set(parts.map(sayType))].join(' or ')
  if (schema.items !== undefined) return `list of ${severalOf(sayType(schema.items))}`
  const type = Array.isArray(schema.type) ? schema.type.join(' or ') : (schema.type ?? 'any value')
  return schema.format === undefined ? type : `${type} (${schema.format})`
}

/** `object` as `objects`; what is more than a word stays as it is. */
function severalOf(type: string): string {
  return /^[a-z]+$/.test(type) ? `${type}s` : type
}
