import { join } from 'node:path'
import { freePort, startProgram } from '../anchors/spawned.ts'
import { groupsOf } from '../worlds.ts'
import { installPython } from './install.ts'
import type { Peer } from './peer.ts'

const version = '0.12.7'

/** DataFusion over HTTP, the table in its memory. */
export const roapi: Peer = {
  name: `ROAPI ${version}`,
  async open(worlds, cache) {
    const programs = await installPython(cache, `roapi==${version}`)
    const { dataPath } = await worlds.data()
    const port = await freePort()
    const server = await startProgram(port, '/api/schema', {
      command: join(programs, 'roapi'),
      args: ['--addr-http', `127.0.0.1:${port}`, '--table', `data=${dataPath}`],
      env: { RUST_LOG: 'error' },
    })
    const target = { port, path: '/api/sql', pid: server.pid, headers: { 'content-type': 'text/plain' } }
    return {
      ...server,
      lookup: { ...target, body: 'SELECT * FROM data WHERE id = {id}' },
      groups: { ...target, body: groupsOf('data', '{id}') },
    }
  },
}
