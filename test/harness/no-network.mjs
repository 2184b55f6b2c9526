import dns from 'node:dns'
import { syncBuiltinESMExports } from 'node:module'
import net from 'node:net'

/**
 * Preloaded into the service: a machine without a network. Whoever calls beyond this machine is refused and named in the
 * output. Names are refused before they are looked up.
 */
const here = /^(?:(?:[\w-]+\.)*localhost|127\.[\d.]+|::1)$/

function cut(host) {
  process.stderr.write(`beyond this machine: ${host}\n`)
  return Object.assign(new Error(`connect ENETUNREACH ${host}`), { code: 'ENETUNREACH' })
}

const connect = Reflect.get(net.Socket.prototype, 'connect')
net.Socket.prototype.connect = function connectHere(...given) {
  const [first, second] = Array.isArray(given[0]) ? given[0] : given
  const isPath = typeof first === 'string' || first?.path !== undefined
  const host = typeof first === 'object' ? first?.host : second
  if (!isPath && typeof host === 'string' && !here.test(host)) {
    process.nextTick(() => this.destroy(cut(host)))
    return this
  }
  return connect.apply(this, given)
}

const { lookup } = dns
dns.lookup = (host, ...rest) => (here.test(host) ? lookup(host, ...rest) : rest.at(-1)(cut(host)))
const { lookup: promised } = dns.promises
dns.promises.lookup = (host, ...rest) => (here.test(host) ? promised(host, ...rest) : Promise.reject(cut(host)))
syncBuiltinESMExports()
