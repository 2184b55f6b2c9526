import type { FastifyRequest, FastifySchemaValidationError } from 'fastify'
import { validatorCompiler } from 'fastify-type-provider-zod'
import { z } from 'zod'
import { maxProblems } from '../../failure.ts'
import { yieldToEventLoop } from '../../flow/index.ts'

type Check = ReturnType<typeof validatorCompiler>
type Problems = FastifySchemaValidationError[]

/** Findings in the lists of a body: problems, or null where each item is what it is taken for. */
const found = new WeakMap<object, Problems | null>()

/**
 * For routes whose body holds long lists. A schema finds everything that is wrong with a value, which takes as long as
 * there is to find; so items are checked one by one until there is enough to tell, with others let in between.
 */
export const checkedItems = {
  async preValidation(request: FastifyRequest): Promise<void> {
    const { body } = request
    const schema = request.routeOptions.schema?.body
    if (!(schema instanceof z.ZodObject) || !isObject(body)) return
    const checks = checksOf(schema)
    let problems: Problems | undefined
    for (const [field, check] of checks) {
      const items = body[field]
      if (Array.isArray(items)) problems = await checkItems(body, { field, items, check })
      if (problems !== undefined) break
    }
    found.set(body, problems ?? null)
  },

  validatorCompiler({ schema, httpPart = '' }: { schema: unknown; httpPart?: string }): Check {
    const checkWhole = compile(schema, httpPart)
    if (httpPart !== 'body' || !(schema instanceof z.ZodObject)) return checkWhole
    const checkRest = compile(withoutItems(schema), httpPart)
    return (body: unknown) => {
      const problems = isObject(body) ? found.get(body) : undefined
      if (problems === undefined) return checkWhole(body)
      return problems === null ? checkRest(body) : { error: problems }
    }
  },
}

function compile(schema: unknown, httpPart: string): Check {
  return validatorCompiler({ schema: schema as z.ZodType, method: '', url: '', httpPart })
}

const checksBySchema = new WeakMap<z.ZodObject, Map<string, Check>>()

function checksOf(schema: z.ZodObject): Map<string, Check> {
  const known = checksBySchema.get(schema)
  if (known !== undefined) return known
  const lists = Object.entries(schema.shape).flatMap(([field, part]) => {
    const list = listIn(part)
    return list === undefined ? [] : [[field, compile(list.element, 'body')] as const]
  })
  const checks = new Map(lists)
  checksBySchema.set(schema, checks)
  return checks
}

/** The schema of what is left to check once each item of its lists is: their number, and all else. */
function withoutItems(schema: z.ZodObject): z.ZodObject {
  const shape = Object.fromEntries(Object.entries(schema.shape).map(([field, part]) => [field, withAnyItems(part)]))
  return schema.clone({ ...schema.def, shape })
}

function withAnyItems(part: unknown): z.core.$ZodType {
  if (part instanceof z.ZodArray) return part.clone({ ...part.def, element: z.unknown() })
  if (part instanceof z.ZodOptional) return part.clone({ ...part.def, innerType: withAnyItems(part.def.innerType) })
  if (part instanceof z.ZodDefault) return part.clone({ ...part.def, innerType: withAnyItems(part.def.innerType) })
  if (part instanceof z.ZodUnion) return part.clone({ ...part.def, options: part.options.map(withAnyItems) })
  return part as z.core.$ZodType
}

/** The list that a field takes, whatever else it takes instead. */
function listIn(part: unknown): z.ZodArray | undefined {
  if (part instanceof z.ZodArray) return part
  if (part instanceof z.ZodOptional || part instanceof z.ZodDefault) return listIn(part.def.innerType)
  return part instanceof z.ZodUnion ? part.options.map(listIn).find((list) => list !== undefined) : undefined
}

/** Puts the values that were read in the place of those that were sent. */
async function checkItems(
  body: Record<string, unknown>,
  { field, items, check }: { field: string; items: unknown[]; check: Check },
): Promise<Problems | undefined> {
  const problems: Problems = []
  const values: unknown[] = []
  for (const [at, item] of items.entries()) {
    await yieldToEventLoop()
    const checked = check(item) as { error?: Problems; value?: unknown }
    for (const problem of checked.error ?? []) {
      problems.push({ ...problem, instancePath: `/${field}/${at}${problem.instancePath}` })
    }
    values.push(checked.value)
    if (problems.length >= maxProblems) break
  }
  if (problems.length > 0) return problems
  body[field] = values
  return undefined
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
