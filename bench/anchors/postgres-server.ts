/**
 * What a good engineer writes by hand for the same two calls: Fastify with schemas for what comes and goes, a pool, and
 * statements that PostgreSQL prepares once for each connection. `node bench/anchors/postgres-server.ts <port> <socket folder>`
 */
import { fastify } from 'fastify'
import { Pool } from 'pg'

const [port = '', sockets = ''] = process.argv.slice(2)
const poolSize = 8
const pool = new Pool({ host: sockets, user: 'postgres', database: 'postgres', max: poolSize })
const http = fastify()
const text = { type: 'string' }
const number = { type: 'number' }
const list = (properties: object) => ({
  response: {
    200: {
      type: 'object',
      properties: { data: { type: 'array', items: { type: 'object', properties } } },
    },
  },
})
const takes = (name: string) => ({
  body: { type: 'object', properties: { [name]: { type: 'integer' } }, required: [name], additionalProperties: false },
})

const row = {
  id: { type: 'integer' },
  name: text,
  price: number,
  active: { type: 'boolean' },
  day: text,
  at: text,
  region: text,
  quantity: { type: 'integer' },
}
http.post<{ Body: { id: number } }>('/lookup', { schema: { ...takes('id'), ...list(row) } }, async ({ body }) => {
  const statement = { name: 'lookup', text: 'select * from data where id = $1', values: [body.id] }
  return { data: (await pool.query(statement)).rows }
})

const group = { region: text, orders: { type: 'integer' }, average: number }
const groups =
  'select region, count(*) as orders, avg(price) as average from data where quantity >= $1 group by region order by region'
http.post<{ Body: { least: number } }>(
  '/groups',
  { schema: { ...takes('least'), ...list(group) } },
  async ({ body }) => {
    return { data: (await pool.query({ name: 'groups', text: groups, values: [body.least] })).rows }
  },
)
await http.listen({ port: Number(port), host: '127.0.0.1' })
