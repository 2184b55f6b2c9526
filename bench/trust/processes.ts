import { closeSync, openSync, readdirSync, readSync } from 'node:fs'
import { readdir, readFile } from 'node:fs/promises'

/** Processes that this one has started and that still run, as Linux tells. */
export async function childrenOf(pid: number = process.pid): Promise<number[]> {
  const threads = await readdir(`/proc/${pid}/task`)
  const lists = await Promise.all(threads.map((thread) => readFile(`/proc/${pid}/task/${thread}/children`, 'utf8')))
  return lists.flatMap((list) => list.split(' ').filter((text) => text !== '')).map(Number)
}

const figures = Buffer.alloc(128)

/**
 * Processor time that all threads of a process have had; one that ends meanwhile counts no more. It takes no memory, which
 * would bring the collector into what is measured.
 */
export function cpuMsOf(pid: number): number {
  let sum = 0
  for (const thread of readdirSync(`/proc/${pid}/task`)) {
    try {
      const file = openSync(`/proc/${pid}/task/${thread}/schedstat`, 'r')
      const length = readSync(file, figures)
      closeSync(file)
      sum += Number.parseInt(figures.toString('latin1', 0, length), 10)
    } catch {
      continue
    }
  }
  return sum / 1_000_000
}

export type Memory = { ownMb: number; dataMb: number; codeMb: number }

/**
 * What processes hold together: pages of their own, and pages of files once, however many of them, or others on the
 * machine, have them mapped; of programs and libraries apart.
 */
export async function memoryOf(pids: number[]): Promise<Memory> {
  let ownKb = 0
  const files = new Map<string, number>()
  for (const pid of pids) {
    const ofProcess = new Map<string, number>()
    for (const mapping of (await readFile(`/proc/${pid}/smaps`, 'utf8')).split(/\n(?=[\da-f]+-[\da-f]+ )/)) {
      const kb = (name: string): number => Number(new RegExp(String.raw`^${name}:\s+(\d+) kB`, 'm').exec(mapping)?.[1])
      const file = /^\S+ \S+ \S+ \S+ [1-9]\d*\s+(\S.*)$/m.exec(mapping)?.[1]
      const dirty = kb('Private_Dirty') + kb('Shared_Dirty')
      ownKb += dirty
      if (file !== undefined) ofProcess.set(file, (ofProcess.get(file) ?? 0) + kb('Rss') - dirty)
    }
    for (const [file, sizeKb] of ofProcess) files.set(file, Math.max(sizeKb, files.get(file) ?? 0))
  }
  const isCode = (file: string): boolean => /(?:\.so(?:\.\d+)*|\.node|\/node)$/.test(file)
  const mbOf = (all: Array<[string, number]>): number => all.reduce((sum, [, sizeKb]) => sum + sizeKb, 0) / 1024
  const all = [...files]
  return {
    ownMb: ownKb / 1024,
    dataMb: mbOf(all.filter(([file]) => !isCode(file))),
    codeMb: mbOf(all.filter(([file]) => isCode(file))),
  }
}
