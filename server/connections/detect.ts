import type { HttpConfiguration, TestConnectionAnswer } from '../../api/connections.ts'
import { odataSchema, type Position } from '../rows/index.ts'
import { entityApart } from './import/read-apart.ts'
import { withPages } from './request/graphql-pages.ts'
import { graphqlIn, parametersIn, recognise } from './request/recognise.ts'
import type { NotSent, Sent } from './outbound/send.ts'

type Detected = NonNullable<TestConnectionAnswer['detected']>
/** An answer, looked into. */
export type DetectedAnswer = { sent: Sent; bytes: Buffer; outline: Position[] | null }
type Detecting = {
  /** The request as its author wrote it, and with its variables filled in. */
  template: HttpConfiguration
  configuration: HttpConfiguration
  looked: DetectedAnswer
  /** Makes another request, in the time that is left. */
  call: (configuration: HttpConfiguration) => Promise<{ sent: Sent | NotSent; bytes: Buffer }>
  look: (sent: Sent, bytes: Buffer, configuration: HttpConfiguration) => Promise<Position[] | null>
  leftMs: () => number
}

/** Describes what came: where its rows are, how it goes on, and what tells a row. */
export async function detect(detecting: Detecting): Promise<Detected | undefined> {
  const { configuration, looked } = detecting
  if (looked.outline === null) return undefined
  const found = { ...recognised(looked, configuration), ...(includes(looked) && { included: true as const }) }
  if (found.pagination !== null) return { ...found, ...(await entityOf(detecting)) }
  return { ...found, ...(await relayPages(detecting, found.rows?.path ?? '')), ...(await entityOf(detecting)) }
}

/** JSON:API: resources that rows name lie beside them. */
function includes({ outline }: DetectedAnswer): boolean {
  const list = (name: string) => outline?.find(({ path }) => path.length === 1 && path[0] === name)?.list
  return (list('included')?.count ?? 0) > 0 && list('data')?.holdsObjects === true
}

function recognised({ sent, outline }: DetectedAnswer, configuration: HttpConfiguration) {
  const { headers } = sent
  const asked = { headers, parameters: parametersIn(configuration), graphql: graphqlIn(configuration) }
  return recognise(outline ?? [], { ...asked, isSample: false })
}

const relayList = /^(data(?:\.\w+)+)\.(?:nodes|edges(?:\.\*\.node)?)$/
/** Words by which servers name the type that they expect. */
const expectedType = /expecting type \\?"([A-Za-z_]\w*)!?\\?"/

/** The query of a request with pages as Relay has them, where the API takes it so. */
async function relayPages(
  { template, configuration, call, look }: Detecting,
  rows: string,
): Promise<Pick<Detected, 'pagination' | 'body'> | undefined> {
  const [, list = ''] = relayList.exec(rows) ?? []
  const [own, filled] = [graphqlIn(template), graphqlIn(configuration)]
  if (list === '' || own === null || filled === null) return undefined
  const path = list.split('.').slice(1)
  for (let type = 'String', tries = 0; tries < 2; tries += 1) {
    const [proposed, tried] = [own, filled].map((query) => withPages(query, path, type))
    if (!proposed || !tried) return undefined
    const asked = { ...configuration, body: withQuery(configuration.body, tried.query) }
    const { sent, bytes } = await call(asked)
    if (!sent.ok) return undefined
    const { pagination } = recognised({ sent, bytes, outline: await look(sent, bytes, asked) }, asked)
    if (pagination?.type === 'cursor') return { pagination, body: withQuery(template.body, proposed.query) }
    const [, expected] = expectedType.exec(bytes.toString('latin1', 0, 10_000)) ?? []
    if (expected === undefined) return undefined
    type = expected
  }
  return undefined
}

/** The same body with another query, as GraphQL's own kind of body. */
function withQuery(body: HttpConfiguration['body'], query: string): Record<string, unknown> {
  const content: unknown = typeof body?.['type'] === 'string' ? body['content'] : body
  const isGraphql = body?.['type'] === 'graphql'
  if (isGraphql && typeof content === 'string') return { ...body, content: query }
  const fields = typeof content === 'object' && content !== null ? content : {}
  return { ...(isGraphql && body), type: 'graphql', content: { ...fields, query } }
}

/** Larger documents are not read in this process, where everybody waits. */
const metadataBytes = 262_144
/** As the schema of a table takes them. */
const [mostColumns, longestName, mostKeys] = [1_000, 1_000, 20]

/** Key and types of an OData entity, by the metadata that its answer names. */
async function entityOf({
  configuration,
  looked,
  call,
  leftMs,
}: Detecting): Promise<Pick<Detected, 'primary_key' | 'columns'> | undefined> {
  const context = looked.outline?.find(({ path }) => path.length === 1 && path[0] === '@odata.context')?.value
  if (typeof context !== 'string' || !URL.canParse(context, looked.sent.url)) return undefined
  const address = new URL(context, looked.sent.url)
  // With `$select` it names the properties that come.
  const [, entitySet, selected] = /^#(\w+)(?:\(([\w,]*)\)|\(|$)/.exec(decodeURIComponent(address.hash)) ?? []
  address.hash = ''
  // Its credentials go nowhere else.
  if (entitySet === undefined || address.origin !== new URL(configuration.url).origin) return undefined
  const { authType, auth, headers = {} } = configuration
  const plain = Object.entries(headers).filter(([name]) => !/^(accept|content-)/i.test(name))
  const asked: HttpConfiguration = {
    url: address.href,
    method: 'GET',
    headers: { ...Object.fromEntries(plain), Accept: 'application/xml' },
    ...(authType !== undefined && { authType }),
    ...(auth !== undefined && { auth }),
  }
  const { sent, bytes } = await call(asked)
  if (!sent.ok || sent.status !== 200 || sent.truncated) return undefined
  const schema =
    bytes.length > metadataBytes
      ? await entityApart({ metadata: bytes, entitySet }, leftMs()).catch(() => null)
      : odataSchema(bytes.toString(), entitySet)
  if (schema === null) return undefined
  const wanted = new Set(selected === undefined || selected === '' ? [] : selected.split(','))
  const isIn = ({ name }: { name: string }) => name.length <= longestName && (wanted.size === 0 || wanted.has(name))
  const shown = schema.columns.filter(isIn).slice(0, mostColumns)
  const columns = shown.map(({ name, type }) => ({ source_name: name, type }))
  const key = schema.key.slice(0, mostKeys)
  return { ...(key.length > 0 && { primary_key: key }), ...(columns.length > 0 && { columns }) }
}
