/** A bare Fastify route that answers with the bytes of a file: `node bench/anchors/route-server.ts <port> <file>`. */
import { readFileSync } from 'node:fs'
import { fastify } from 'fastify'

const [port = '', file = ''] = process.argv.slice(2)
const bytes = readFileSync(file)
const http = fastify()
http.post('/', async (_request, reply) => reply.type('application/json; charset=utf-8').send(bytes))
await http.listen({ port: Number(port), host: '127.0.0.1' })
