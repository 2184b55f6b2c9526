import { spawn, type ChildProcess } from 'node:child_process'
import { mkdirSync, rmSync } from 'node:fs'
import { setPriority } from 'node:os'
import { join } from 'node:path'
import type { Socket } from 'node:net'
import { fileURLToPath } from 'node:url'
import { executorFlags, executorVariables } from '../../scripts/memory.mjs'
import { compileCache, programBeside } from '../process/index.ts'
import { createFrameReader, createFrameWriter, type Frame } from './executor/socket/frames.ts'
import { takeRows } from './executor/socket/large-rows.ts'
import type { ExecutorSettings, FailedHead, LeftHead } from './executor/socket/protocol.ts'

const program = fileURLToPath(programBeside(import.meta.url, 'executor/main'))

/**
 * Writable memory that Node maps before it does anything (0.6 GB), and that DuckDB maps for wide tables and never
 * touches (5,000 columns: 1.3 GB); the limit on top of it is what queries can fill.
 */
const reservedBytes = 2 * 1024 ** 3
const maxStderrChars = 2_000
/** Threads of the executor beyond one per call: opening an instance and reading a file wait for nobody's query. */
const spareThreads = 2

export type ChildSettings = Omit<ExecutorSettings, 'tempDir'> & { runDir: string; name: string; background: boolean }

export type Lost = { code: number | null; signal: NodeJS.Signals | null; stderr: string }

export type ExecutorChild = {
  pid: number
  send: (frame: Partial<Frame> & Pick<Frame, 'id' | 'kind'>) => void
  kill: () => void
  /** Ends it kindly: an executor stops when its socket closes. */
  end: () => void
}

/** Starts one executor. It inherits no environment, so no secret; `onLost` is called exactly once. */
// Over 70 lines: everything that can happen to one process, in one place.
export function startExecutor(
  settings: ChildSettings,
  on: { frame: (frame: Frame) => void; lost: (lost: Lost) => void },
): ExecutorChild {
  const { runDir, name, background, ...rest } = settings
  const tempDir = join(runDir, name)
  mkdirSync(tempDir, { recursive: true, mode: 0o700 })
  const executorSettings: ExecutorSettings = { ...rest, tempDir }
  const dataKib = Math.ceil((reservedBytes + settings.memoryBytes) / 1024)
  // DuckDB exceeds its `memory_limit`; the limit of the operating system holds. It counts writable memory (-d), because
  // loading TypeScript reserves 8 GB of address space that is never touched and -v would count.
  const child = spawn(
    '/bin/sh',
    [
      '-c',
      `ulimit -d ${dataKib}; exec "$0" "$@"`,
      process.execPath,
      '--no-warnings',
      ...executorFlags,
      program,
      JSON.stringify(executorSettings),
    ],
    {
      cwd: tempDir,
      stdio: ['ignore', 'ignore', 'pipe', 'pipe'],
      // A signal to our whole process group is for us; it would come before the process can say that it heeds none.
      detached: true,
      env: {
        UV_THREADPOOL_SIZE: String(settings.concurrency + spareThreads),
        TZ: 'UTC',
        ...executorVariables,
        ...compileCache(),
      },
    },
  )
  let stderr = ''
  child.stderr?.on('data', (bytes: Buffer) => {
    stderr = (stderr + bytes.toString()).slice(-maxStderrChars)
  })
  if (background) lowerPriority(child)
  const socket = child.stdio[3] as Socket
  let lost = false
  const read = createFrameReader((frame) => {
    const leftBytes = frame.kind === 'result' ? (frame.head as Partial<LeftHead> | undefined)?.leftBytes : undefined
    if (leftBytes === undefined) on.frame(frame)
    else void takeLeft(frame, leftBytes)
  })
  const takeLeft = async (frame: Frame, leftBytes: number): Promise<void> => {
    try {
      const body = await takeRows(tempDir, frame.id, leftBytes)
      if (!lost) on.frame({ ...frame, body })
    } catch (error) {
      const head: FailedHead = { code: 'internal_error', cause: String(error) }
      if (!lost) on.frame({ id: frame.id, kind: 'failed', head, body: frame.body })
    }
  }
  socket.on('data', (bytes: Buffer) => {
    try {
      read(bytes)
    } catch {
      child.kill('SIGKILL')
    }
  })
  // The end of the process tells all there is to know.
  socket.on('error', () => undefined)
  const onLost = (code: number | null, signal: NodeJS.Signals | null): void => {
    if (lost) return
    lost = true
    rmSync(tempDir, { recursive: true, force: true })
    on.lost({ code, signal, stderr })
  }
  child.on('exit', onLost)
  child.on('error', () => onLost(null, null))
  return {
    pid: child.pid ?? 0,
    send: createFrameWriter(socket),
    kill: () => child.kill('SIGKILL'),
    end: () => socket.destroy(),
  }
}

function lowerPriority(child: ChildProcess): void {
  try {
    if (child.pid !== undefined) setPriority(child.pid, 10)
  } catch {
    // It has ended already, or the platform has no priorities: the work is the same, only less polite.
  }
}
