import { useState } from 'react'

/** A run that was: its SQL, and its outcome. */
export type PastRun = { at: string; sql: string; rows: number | null; elapsedMs: number | null; error: string | null }

const mostRuns = 30
/** Longer SQL is run, and not kept in the history. */
const mostSavedChars = 20_000

/** The runs of one person on one query, the latest first, kept in this browser. */
export function usePastRuns(key: string) {
  const [runs, setRuns] = useState<PastRun[]>(() => read(key))
  const put = (next: (before: PastRun[]) => PastRun[]): void =>
    setRuns((before) => {
      const after = next(before)
      write(key, after)
      return after
    })
  return {
    runs,
    note: (run: PastRun) => run.sql.length <= mostSavedChars && put((before) => [run, ...before].slice(0, mostRuns)),
    forget: () => put(() => []),
  }
}

function read(key: string): PastRun[] {
  try {
    return JSON.parse(localStorage.getItem(key) ?? '[]') as PastRun[]
  } catch {
    return []
  }
}

function write(key: string, runs: PastRun[]): void {
  try {
    localStorage.setItem(key, JSON.stringify(runs))
  } catch {
    // The browser's room is full: the page goes on, and forgets when it is left.
  }
}
