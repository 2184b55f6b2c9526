import type { FastifyReply, FastifyRequest, RouteShorthandOptions } from 'fastify'
import { z } from 'zod'
import { pageOf, pageQuery } from '../../../api/envelope.ts'
import { fromWire, toWire, type CamelKey, type FromWire, type ToWire } from '../../../api/wire-codec.ts'
import type { App } from '../../app.ts'
import type { Page } from '../../store/index.ts'
import { mapInPieces } from '../../flow/index.ts'
import { noContent, refusals } from '../answer/answers.ts'
import { sendLarge } from '../answer/large-answer.ts'
import { callerOf } from '../request/caller.ts'
import type { Http } from '../request/http.ts'

/** The answer of an operation: its schema, and how what a verb returns is written. */
type Answer<Result> = {
  status: 200 | 201 | 204
  schema: unknown
  /** Null where the verb's part of the route has sent it. */
  write: ((result: Result) => unknown) | null
  /** The schema again where entries of a list are each as large as somebody made them: they are written one by one. */
  listed?: z.ZodObject
}

export function one<Schema extends z.ZodType>(schema: Schema): Answer<ToWire<z.output<Schema>>>
export function one<Schema extends z.ZodType, Result>(
  schema: Schema,
  write: (result: Result) => z.output<Schema>,
): Answer<Result>
export function one(schema: z.ZodType, write?: (result: unknown) => unknown): Answer<unknown> {
  return { status: 200, schema, write: write ?? codecOf(schema) }
}

/** One that its verb gives as the wire has it. */
export function asItIs<Schema extends z.ZodType>(schema: Schema): Answer<z.output<Schema>> {
  return { status: 200, schema, write: (result) => result }
}

/** 201, of what was not there before. */
export function made<Schema extends z.ZodType>(schema: Schema): Answer<ToWire<z.output<Schema>>>
export function made<Schema extends z.ZodType, Result>(
  schema: Schema,
  write: (result: Result) => z.output<Schema>,
): Answer<Result>
export function made(schema: z.ZodType, write?: (result: unknown) => unknown): Answer<unknown> {
  return { status: 201, schema, write: write ?? codecOf(schema) }
}

export function page<Item extends z.ZodType>(item: Item): Answer<Page<ToWire<z.output<Item>>>>
export function page<Item extends z.ZodType, Result>(
  item: Item,
  write: (result: Result) => z.output<Item>,
): Answer<Page<Result>>
export function page(item: z.ZodType, write = codecOf(item)): Answer<Page<unknown>> {
  return {
    status: 200,
    schema: pageOf(item),
    write: async ({ items, nextCursor }) => ({ data: await mapInPieces(items, write), next_cursor: nextCursor }),
    listed: pageOf(item),
  }
}

export const pageOnly = z.strictObject(pageQuery)

/** A list that is short enough for one page. */
export function shortList<Item extends z.ZodType>(item: Item): Answer<readonly ToWire<z.output<Item>>[]>
export function shortList<Item extends z.ZodType, Result>(
  item: Item,
  write: (result: Result) => z.output<Item>,
): Answer<readonly Result[]>
export function shortList(item: z.ZodType, write = codecOf(item)): Answer<readonly unknown[]> {
  const listed = z.object({ data: z.array(item), next_cursor: z.null() })
  const written = async (items: readonly unknown[]) => ({ data: await mapInPieces(items, write), next_cursor: null })
  return { status: 200, schema: listed, write: written, listed }
}

/** 204. */
export const nothing: Answer<unknown> = { status: 204, schema: noContent, write: () => undefined }

/** One that is no value to write: a file, a stream, or bytes that are ready. The schema describes it. */
export function sent(schema: unknown, status: 200 | 201 = 200): Answer<FastifyReply | Promise<FastifyReply>> {
  return { status, schema, write: null }
}

export const eventStream = sent({
  description: 'The stream.',
  content: { 'text/event-stream': { schema: z.string() } },
})

function codecOf(schema: z.ZodType): (value: unknown) => unknown {
  return (value) => toWire(schema, value)
}

type Values<Schema> = Schema extends z.ZodType
  ? undefined extends z.output<Schema>
    ? Partial<FromWire<NonNullable<z.output<Schema>>>>
    : FromWire<z.output<Schema>>
  : unknown

type NamesIn<Url extends string> = Url extends `${string}:${infer Name}/${infer Rest}`
  ? Name | NamesIn<`/${Rest}`>
  : Url extends `${string}:${infer Name}`
    ? Name
    : never
/** Ids and names in a path are texts, but for those that have a schema of their own. */
type PathValues<Url extends string, Params> = {
  [Name in Exclude<NamesIn<Url>, Params extends z.ZodObject ? keyof z.output<Params> : never> as CamelKey<Name>]: string
} & Values<Params>

type Parts = z.ZodType | undefined
type Input<Url extends string, Params, Query, Body> = PathValues<Url, Params> & Values<Query> & Values<Body>
type Exchange = { request: FastifyRequest; reply: FastifyReply }
type Verb<Who, Input, Result> = (app: App, caller: Who, input: Input, exchange: Exchange) => Promise<Result> | Result
type Options = Pick<RouteShorthandOptions, 'config' | 'bodyLimit' | 'preValidation' | 'validatorCompiler'>
type Spec<Params, Query, Body, Result> = Options & {
  summary: string
  description?: string
  /** Parts of the path that are more than a text. */
  params?: Params
  query?: Query
  headers?: z.ZodObject
  body?: Body
  answer: Answer<Result>
  /** Instead of those that every operation has. */
  refusals?: Record<number, z.ZodType>
}

/**
 * Routes that hand what they are sent to a verb and its result back: path, query and body as one value in the verb's
 * own names, and the answer as its schema says.
 */
export function operations(http: Http, app: App, tag: string) {
  return operationsOf(http, app, { tag, whoOf: callerOf })
}

/** The same for whoever calls, signed in or not. */
export function openOperations(http: Http, app: App, tag: string) {
  const config = { door: 'open' } as const
  return operationsOf(http, app, { tag, whoOf: ({ caller }) => caller, open: { config, schema: { security: [] } } })
}

type Kind<Who> = {
  tag: string
  whoOf: (request: FastifyRequest) => Who
  open?: { config: { door: 'open' }; schema: { security: [] } }
}

function operationsOf<Who>(http: Http, app: App, { tag, whoOf, open }: Kind<Who>) {
  const define =
    (method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE') =>
    <
      const Url extends string,
      Result,
      Params extends z.ZodObject | undefined = undefined,
      Query extends Parts = undefined,
      Body extends Parts = undefined,
    >(
      url: Url,
      spec: Spec<Params, Query, Body, Result>,
      verb: Verb<Who, Input<Url, Params, Query, Body>, Result>,
    ): void => {
      const { summary, description, params: own, query, headers, body, answer, refusals: refused, ...options } = spec
      const params = pathSchema(url, own)
      const read = { params: reader(params), query: reader(query), body: reader(body) }
      http.route({
        method,
        url,
        ...options,
        ...(open && { config: open.config }),
        schema: {
          ...open?.schema,
          tags: [tag],
          summary,
          ...(description !== undefined && { description }),
          ...(params !== undefined && { params }),
          ...(query !== undefined && { querystring: query }),
          ...(headers !== undefined && { headers }),
          ...(body !== undefined && { body }),
          response: { ...(refused ?? refusals), [answer.status]: answer.schema },
        },
        handler: async (request, reply) => {
          const input = { ...read.body(request.body), ...read.query(request.query), ...read.params(request.params) }
          void reply.code(answer.status)
          const exchange = { request, reply }
          const result = await verb(app, whoOf(request), input as Input<Url, Params, Query, Body>, exchange)
          if (answer.write === null) return reply
          const written = await answer.write(result)
          if (answer.listed === undefined) return reply.send(written)
          return sendLarge(reply, answer.listed, written as z.output<typeof answer.listed>)
        },
      })
    }

  return { get: define('GET'), post: define('POST'), put: define('PUT'), patch: define('PATCH'), del: define('DELETE') }
}

function pathSchema(url: string, own: z.ZodObject | undefined): z.ZodObject | undefined {
  const names = [...url.matchAll(/:([a-z_]+)/g)].map(([, name = '']) => name)
  if (names.length === 0) return undefined
  return z.object({ ...Object.fromEntries(names.map((name) => [name, z.string()])), ...own?.shape })
}

/** The codec goes by the schemas of objects, so that any other would keep the names of the wire. */
function reader(schema: Parts): (wire: unknown) => object | undefined {
  if (schema === undefined) return () => undefined
  const inner = schema instanceof z.ZodOptional || schema instanceof z.ZodNullable ? schema.unwrap() : schema
  const object = inner instanceof z.ZodNullable ? inner.unwrap() : inner
  if (!(object instanceof z.ZodObject)) throw new Error('the input of an operation is an object')
  return (wire) => fromWire(schema, wire) as object | undefined
}
