import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { postmasterTree, processTree } from '../harness/process.ts'

/** What an installation holds at one moment. */
export type Sample = { memoryMb: number; serviceMb: number; handles: number; processes: number; files: number }

/** Of the service and its children; the database has its own fixed memory and is counted by its processes alone. */
export function sampleOf(service: number, dataDir: string): Sample {
  const database = new Set(postmasterTree(dataDir))
  const own = processTree(service).filter((pid) => !database.has(pid))
  return {
    memoryMb: Math.round(sum(own.map(residentMb))),
    serviceMb: Math.round(residentMb(service)),
    handles: sum(own.map(handlesOf)),
    processes: own.length,
    files: filesOf(dataDir),
  }
}

/** Pages that several processes share are counted once. */
function residentMb(pid: number): number {
  try {
    const [, kilobytes = '0'] = /^Pss:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/smaps_rollup`, 'utf8')) ?? []
    return Number(kilobytes) / 1024
  } catch {
    return 0
  }
}

function handlesOf(pid: number): number {
  try {
    return readdirSync(`/proc/${pid}/fd`).length
  } catch {
    return 0
  }
}

/** Beside the database's own. */
function filesOf(dataDir: string): number {
  return readdirSync(dataDir, { recursive: true, withFileTypes: true }).filter(
    (entry) => entry.isFile() && !entry.parentPath.startsWith(join(dataDir, 'postgres')),
  ).length
}

function sum(numbers: number[]): number {
  return numbers.reduce((total, each) => total + each, 0)
}
