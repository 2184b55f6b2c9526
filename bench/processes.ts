/** What the processes of an installation use, as Linux tells. */
import { readFileSync } from 'node:fs'
import { installationTree } from '../test/harness/process.ts'

/** Of a process and all that it started, and of the database of its data folder: pages that are shared count by share. */
export function sharedMemoryMb(pid: number, dataDir: string): number {
  const sizes = installationTree(pid, dataDir).map((each) => kilobytes(`/proc/${each}/smaps_rollup`, 'Pss'))
  return sizes.reduce((sum, size) => sum + size, 0) / 1024
}

export function residentMb(pid: number): number {
  return kilobytes(`/proc/${pid}/status`, 'VmRSS') / 1024
}

/** The most that `read` gives until it is stopped. */
export function watchPeak(read: () => number, everyMs = 20): { stop: () => number } {
  let peak = read()
  const timer = setInterval(() => (peak = Math.max(peak, read())), everyMs)
  return { stop: () => (clearInterval(timer), peak) }
}

/** Nothing where the process has ended meanwhile. */
function kilobytes(path: string, name: string): number {
  try {
    return Number(new RegExp(String.raw`^${name}:\s+(\d+) kB`, 'm').exec(readFileSync(path, 'utf8'))?.[1] ?? 0)
  } catch {
    return 0
  }
}
