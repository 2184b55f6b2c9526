import type { Socket } from 'node:net'
import type { Http } from './http.ts'

/**
 * Ends connections on which nothing was asked yet when the server begins to close. Node counts them as busy, so a client
 * that opens one ahead of its next call would hold up a stop until the time for its headers is over.
 */
export function endSilentConnections(http: Http): void {
  const silent = new Set<Socket>()
  http.server.on('connection', (socket) => {
    silent.add(socket)
    socket.once('close', () => silent.delete(socket))
  })
  http.server.on('request', ({ socket }) => silent.delete(socket))
  http.addHook('preClose', async () => {
    for (const socket of silent) socket.destroy()
  })
}
