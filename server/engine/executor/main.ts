import { Socket } from 'node:net'
import { leaveSignalsToParent } from '../../process/index.ts'
import { createCalls } from './calls.ts'
import { createFrameReader, createFrameWriter } from './socket/frames.ts'
import { createInstances } from './instance/instances.ts'
import type { ExecutorSettings } from './socket/protocol.ts'

/**
 * The executor: a process that holds DuckDB, answers calls on the socket its parent left at descriptor 3, and ends
 * with it. A crash in here is the parent's to notice and repair.
 */
leaveSignalsToParent()
const settings = JSON.parse(process.argv[2] ?? '{}') as ExecutorSettings
const socket = new Socket({ fd: 3, readable: true, writable: true })
const send = createFrameWriter(socket)
const instances = createInstances(settings)
const calls = createCalls({ settings, instances, send })

socket.on('data', createFrameReader(calls.receive))
// No parent, no work: also when it was killed and could not say goodbye.
socket.on('close', () => process.exit(0))
socket.on('error', () => process.exit(0))
setInterval(() => instances.sweep(performance.now()), 1_000)
send({ id: 0, kind: 'ready' })
