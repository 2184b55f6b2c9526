/** A JSON Schema, as far as the service writes them. */
export type Schema = {
  type?: string | string[]
  description?: string
  format?: string
  enum?: Array<string | number | null>
  minimum?: number
  maximum?: number
  items?: Schema
  properties?: Record<string, Schema>
  additionalProperties?: Schema | boolean
}

type ObjectSchema = Schema & { properties: Record<string, Schema>; required: string[] }

/** The types of a deployed query, from the OpenAPI document of the project. */
export type DeployedQuery = { name: string; description: string; input: ObjectSchema; row: ObjectSchema }

export type ProjectDocument = {
  paths: Record<string, { description?: string }>
  components: { schemas: Record<string, ObjectSchema> }
}

/** A type in no language yet. `wide` is a number that travels as text where JSON would lose digits of it. */
export type ValueType =
  | { kind: 'text' | 'integer' | 'number' | 'wide' | 'boolean' | 'any' }
  | { kind: 'choice'; values: Array<string | number> }
  | { kind: 'list'; of: ValueType }
  | { kind: 'record'; fields: Array<[name: string, type: ValueType]> }
  | { kind: 'map'; of: ValueType }

const prefix = '/v1/queries/'

export function deployedQueries({ paths, components: { schemas } }: ProjectDocument): DeployedQuery[] {
  const none: ObjectSchema = { properties: {}, required: [] }
  return Object.entries(paths).map(([path, { description = '' }]) => {
    const name = path.slice(prefix.length)
    return { name, description, input: schemas[`${name}_slots`] ?? none, row: schemas[`${name}_row`] ?? none }
  })
}

/** An integer beyond what JSON's numbers hold is sent as its digits: never where a bound says how large it may be. */
export function slotType(schema: Schema): ValueType {
  if (schema.items !== undefined) return { kind: 'list', of: slotType(schema.items) }
  const type = valueType(schema)
  const isBounded = [schema.minimum, schema.maximum].some((bound) => Number.isSafeInteger(bound))
  return type.kind === 'integer' && !isBounded ? { kind: 'wide' } : type
}

/** Whether a column of a result may hold null: all but counts may. */
export function isNullable({ type, enum: values }: Schema): boolean {
  return type === undefined || [type].flat().includes('null') || values?.includes(null) === true
}

/** The type of a value that is not null. */
export function valueType(schema: Schema): ValueType {
  const values = schema.enum?.filter((value) => value !== null)
  if (values !== undefined) return { kind: 'choice', values }
  const names = [schema.type ?? []].flat().filter((name) => name !== 'null')
  const [first] = names
  if (names.length > 1) return { kind: names.every((name) => name in scalars) ? 'wide' : 'any' }
  if (first === 'array') return { kind: 'list', of: valueType(schema.items ?? {}) }
  if (first === 'object') return objectType(schema)
  return { kind: scalars[first ?? ''] ?? 'any' }
}

const scalars: Record<string, 'text' | 'integer' | 'number' | 'boolean'> = {
  string: 'text',
  integer: 'integer',
  number: 'number',
  boolean: 'boolean',
}

function objectType({ properties, additionalProperties }: Schema): ValueType {
  if (properties !== undefined) {
    return { kind: 'record', fields: Object.entries(properties).map(([name, each]) => [name, valueType(each)]) }
  }
  return { kind: 'map', of: valueType(typeof additionalProperties === 'object' ? additionalProperties : {}) }
}
