// What a connection relies on, taken out of an OpenAPI document as facts: paths, parameters, authentication, names and
// types of fields. Descriptions and examples stay behind.

/** Below a row, objects are followed this far: a nested object, and one in it. */
const depthOfFields = 6
const listedValues = 40
const sizeNames =
  /^(limit|count|first|top|results|pagelen|(per|max)[_-]?(page|results)|page[_-]?(size|limit)|page\[(size|limit)\])$/i

/** The contract of an API: its servers, and what it says of the operations that are named; `missing` are those that it has not. */
export function contractOf(document, operations) {
  const all = operations.map((name) => [name, operationOf(document, name)])
  const found = Object.fromEntries(all.filter(([, operation]) => operation !== null))
  const used = new Set(Object.values(found).flatMap(({ security = [] }) => security.flat()))
  const schemes = Object.entries(document.components?.securitySchemes ?? document.securityDefinitions ?? {})
  const contract = {
    version: String(document.info?.version ?? ''),
    servers: serversOf(document),
    authentication: Object.fromEntries(
      schemes.filter(([name]) => used.has(name)).map(([name, scheme]) => [name, schemeOf(resolved(document, scheme))]),
    ),
    operations: found,
  }
  return { contract, missing: all.filter(([, operation]) => operation === null).map(([name]) => name) }
}

/** Every operation that reads, for who looks for one. */
export function operationsOf(document) {
  return Object.entries(document.paths ?? {}).flatMap(([path, item]) =>
    ['get', 'post'].filter((method) => item[method] !== undefined).map((method) => `${method.toUpperCase()} ${path}`),
  )
}

function serversOf(document) {
  if (document.host !== undefined) {
    return (document.schemes ?? ['https'])
      .slice(0, 1)
      .map((scheme) => `${scheme}://${document.host}${document.basePath ?? ''}`)
  }
  return (document.servers ?? []).map(({ url }) => url)
}

function schemeOf({ type, scheme, in: place, name, flows, flow, tokenUrl, authorizationUrl }) {
  const kinds = flows ?? (flow === undefined ? undefined : { [flow]: { tokenUrl, authorizationUrl } })
  if (type === 'basic') return { type: 'http', scheme: 'basic' }
  return compact({
    type,
    scheme: scheme?.toLowerCase(),
    in: place,
    name,
    flows:
      kinds &&
      Object.fromEntries(
        Object.entries(kinds).map(([kind, each]) => [
          kind,
          compact({ tokenUrl: each.tokenUrl, authorizationUrl: each.authorizationUrl }),
        ]),
      ),
  })
}

function operationOf(document, name) {
  const [method, path] = name.split(' ')
  const item = resolved(document, document.paths?.[path])
  const operation = item?.[method.toLowerCase()]
  if (operation === undefined) return null
  const given = [...(item.parameters ?? []), ...(operation.parameters ?? [])].map((each) => resolved(document, each))
  const security = operation.security ?? document.security
  const servers = (operation.servers ?? item.servers)?.map(({ url }) => url)
  const bodySchema =
    given.find((each) => each.in === 'body')?.schema ??
    mediaOf(resolved(document, operation.requestBody)?.content)?.schema
  const { answer, headers } = answerOf(document, operation)
  return compact({
    servers,
    security: security?.map((each) => Object.keys(each)),
    parameters: Object.fromEntries(
      given
        .filter((each) => each.in !== 'body' && each.in !== 'formData')
        .map((each) => [each.name, parameterOf(document, each)]),
    ),
    body: bodySchema && fieldsOf(document, bodySchema),
    headers,
    answer,
  })
}

function parameterOf(document, parameter) {
  const outer = parameter.schema ?? mediaOf(parameter.content)?.schema ?? parameter
  const schema = merged(document, outer)
  const of = schema.type === 'array' ? merged(document, schema.items ?? {}) : schema
  const objects = [schema, ...(schema.anyOf ?? []), ...(schema.oneOf ?? [])].map((each) => merged(document, each))
  const properties = Object.assign({}, ...objects.map((each) => each.properties ?? {}))
  // What can be chosen of the answer is listed however long it is.
  const most = /fields/.test(parameter.name) ? 200 : listedValues
  const isSize = sizeNames.test(parameter.name)
  const said = isSize ? maximumSaid(`${parameter.description ?? ''} ${schema.description ?? ''}`) : undefined
  const type = typeName({ ...of, enum: undefined })
  const fields = Object.keys(properties)
  return compact({
    in: parameter.in,
    type,
    list: schema.type === 'array' ? true : undefined,
    required: parameter.required === true ? true : undefined,
    minimum: of.minimum,
    maximum: of.maximum ?? said,
    default: ['string', 'number', 'boolean'].includes(typeof schema.default) ? schema.default : undefined,
    values: of.enum !== undefined && of.enum.length <= most ? of.enum : undefined,
    fields: fields.length > 0 ? fields : undefined,
  })
}

/** The largest page that a description names. */
function maximumSaid(text) {
  const plain = text.replaceAll(/[*`_,]/g, '')
  const [, number] =
    /(?:max(?:imum)?(?: (?:value|limit|number|allowed|page size|is|of|size|items|results|per page))*|up to|at most|between \d+ and|from \d+ to|no more than|less than or equal to|cannot exceed|1 ?[-–] ?)\D{0,12}?(\d{2,5})\b/i.exec(
      plain,
    ) ?? []
  return number === undefined ? undefined : Number(number)
}

function answerOf(document, operation) {
  const responses = operation.responses ?? {}
  const status = ['200', '201', '2XX', '2xx', 'default'].find((each) => responses[each] !== undefined)
  const response = resolved(document, responses[status]) ?? {}
  const media = mediaOf(response.content)
  const schema = response.schema ?? media?.schema
  const example =
    media?.example ??
    Object.values(media?.examples ?? {})[0]?.value ??
    response.examples?.['application/json'] ??
    undefined
  const fromSchema = schema && fieldsOf(document, schema)
  const isEmpty =
    fromSchema === undefined || ['object', 'any', 'string'].includes(fromSchema) || Object.keys(fromSchema).length === 0
  const headers = Object.keys(response.headers ?? {})
    .map((name) => name.toLowerCase())
    .sort()
  return {
    answer: isEmpty && example !== undefined ? shapeOf(parsed(example)) : fromSchema,
    headers: headers.length > 0 ? headers : undefined,
  }
}

function mediaOf(content) {
  if (content === undefined) return undefined
  const types = Object.keys(content)
  const json = types.find((type) => /json/.test(type)) ?? types.find((type) => /form/.test(type)) ?? types[0]
  return content[json]
}

/** Names and types of a schema: an object by its fields, a list as `[item]`, a value as the name of its type. */
function fieldsOf(document, schema, depth = 0, above = []) {
  const name = schema?.$ref
  if (name !== undefined && above.includes(name)) return 'object'
  const trail = name === undefined ? above : [...above, name]
  const whole = merged(document, schema)
  if (whole.type === undefined && whole.properties === undefined && whole.items?.anyOf !== undefined) {
    // What no list says of its items are the alternatives of an object (Slack).
    return fieldsOf(document, whole.items, depth, trail)
  }
  if (whole.type === 'array' || (whole.type === undefined && whole.items !== undefined)) {
    return [fieldsOf(document, [whole.items ?? {}].flat()[0], depth + 1, trail)]
  }
  const { properties, additionalProperties } = whole
  if (properties !== undefined && Object.keys(properties).length > 0) {
    if (depth >= depthOfFields) return 'object'
    return Object.fromEntries(
      Object.entries(properties).map(([field, each]) => [field, fieldsOf(document, each, depth + 1, trail)]),
    )
  }
  if (whole.type === 'object' && additionalProperties !== undefined && typeof additionalProperties === 'object') {
    if (depth >= depthOfFields || Object.keys(additionalProperties).length === 0) return 'object'
    return { '*': fieldsOf(document, additionalProperties, depth + 1, trail) }
  }
  return typeName(whole)
}

/** `string`, `integer`, …, with its format behind a colon, its values in brackets, and `?` where it may be null. */
function typeName({ type, format, enum: values, nullable }) {
  const base = type ?? (values === undefined ? 'any' : typeof values.find((each) => each !== null))
  const isShort =
    values !== undefined && values.length <= listedValues && values.every((each) => String(each).length <= 60)
  const listed = isShort && base === 'string' ? `(${values.filter((each) => each !== null).join('|')})` : ''
  const ofTime = ['date', 'date-time', 'unix-time', 'uri', 'uuid', 'email', 'decimal', 'double', 'int64', 'timestamp']
  const told = ofTime.includes(format) && base !== 'any' && !['double', 'int64'].includes(format) ? `:${format}` : ''
  return `${base}${told}${listed}${nullable === true ? '?' : ''}`
}

/** A schema with its reference followed, its parts joined, and of alternatives the one that says most. */
function merged(document, schema, seen = 0) {
  const here = resolved(document, schema) ?? {}
  if (seen > 12) return {}
  let whole = { ...here }
  if (Array.isArray(here.type)) {
    whole.type = here.type.find((each) => each !== 'null')
    whole.nullable = here.type.includes('null') || undefined
  }
  for (const part of here.allOf ?? []) whole = joined(whole, merged(document, part, seen + 1))
  const alternatives = (here.oneOf ?? here.anyOf ?? []).map((each) => merged(document, each, seen + 1))
  const real = alternatives.filter(({ type }) => type !== 'null')
  if (real.length > 0) {
    const objects = real.filter(({ properties }) => properties !== undefined)
    const list = real.find(({ type }) => type === 'array')
    // Where one reads an id or the whole thing, the id is what comes unasked.
    const plain = real.find(({ type }) => type !== undefined && type !== 'object' && type !== 'array')
    const chosen =
      here.anyOf !== undefined && plain !== undefined && objects.length > 0
        ? plain
        : objects.length > 0
          ? objects.reduce(joined)
          : (list ?? real[0])
    whole = joined(whole, chosen)
    if (real.length < alternatives.length) whole.nullable = true
  }
  return whole
}

function joined(one, other) {
  return compact({
    ...one,
    ...other,
    type: other.type ?? one.type,
    items: other.items ?? one.items,
    nullable: one.nullable || other.nullable || undefined,
    properties:
      one.properties === undefined && other.properties === undefined
        ? undefined
        : { ...one.properties, ...other.properties },
  })
}

function resolved(document, value) {
  let at = value
  for (let steps = 0; at?.$ref !== undefined && steps < 20; steps++) {
    const path = at.$ref.replace(/^#\//, '').split('/')
    const names = path.map((part) => decodeURIComponent(part).replaceAll('~1', '/').replaceAll('~0', '~'))
    at = names.reduce((from, name) => from?.[name], document)
  }
  return at
}

/** What an example shows, where the document has no schema for it. */
function shapeOf(value) {
  if (Array.isArray(value)) return [value.length === 0 ? 'any' : shapeOf(value[0])]
  if (value === null) return 'any'
  if (typeof value === 'object') {
    return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, shapeOf(each)]))
  }
  if (typeof value === 'number') return Number.isInteger(value) ? 'integer' : 'number'
  if (typeof value === 'string' && /^\d{4}-\d{2}-\d{2}T[\d:.]+(Z|[+-]\d{2}:?\d{2})$/.test(value))
    return 'string:date-time'
  return typeof value
}

function parsed(example) {
  if (typeof example !== 'string') return example
  try {
    return JSON.parse(example)
  } catch {
    return example
  }
}

function compact(object) {
  return Object.fromEntries(Object.entries(object).filter(([, value]) => value !== undefined))
}
