import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { vi } from 'vitest'

export type RunnerEvent = {
  kind: string
  jobId?: string
  attempt?: number
  jobs?: Array<{ id: string; status: string; attempt: number; error: unknown }>
}

export type Runner = {
  child: ChildProcess
  events: RunnerEvent[]
  of(kind: string): RunnerEvent[]
  /** The first event that is as wanted. */
  said(wanted: (event: RunnerEvent) => boolean, timeoutMs?: number): Promise<RunnerEvent>
  signal(signal: NodeJS.Signals): void
  end(signal: 'SIGKILL' | 'SIGTERM'): Promise<void>
}

/** A process of its own that runs jobs, told by what it says. See `test/faults/job-runner.ts`. */
export function startRunner(
  dataDir: string,
  options: { databaseUrl?: string; manner?: string; enqueue?: number; leaseSeconds?: number } = {},
): Runner {
  const { databaseUrl = '', manner = 'hang', enqueue = 0, leaseSeconds = 10 } = options
  const script = join(import.meta.dirname, '../faults/job-runner.ts')
  const args = [script, dataDir, databaseUrl, manner, String(enqueue), String(leaseSeconds)]
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'pipe'] })
  const events: RunnerEvent[] = []
  let complaint = ''
  createInterface({ input: child.stdout }).on('line', (line) => events.push(JSON.parse(line)))
  child.stderr.on('data', (chunk) => (complaint += chunk))
  return {
    child,
    events,
    of: (kind) => events.filter((event) => event.kind === kind),
    said: (wanted, timeoutMs = 60_000) =>
      vi.waitFor(
        () => {
          if (child.exitCode !== null) throw new Error(`The runner ended: ${complaint}`)
          const found = events.find((event) => wanted(event))
          if (found === undefined) throw new Error(`Not said: ${JSON.stringify(events.slice(-5))}`)
          return found
        },
        { timeout: timeoutMs, interval: 5 },
      ),
    signal: (signal) => void child.kill(signal),
    async end(signal) {
      if (child.exitCode !== null || child.signalCode !== null) return
      const exit = once(child, 'exit', { signal: AbortSignal.timeout(60_000) })
      child.kill(signal)
      await exit
    },
  }
}
