import { useState } from 'react'
import { useUser } from '../../../client/queries.ts'
import type { SlotValues } from '../queries/slots/slots.ts'

export type Scratch = { id: string; name: string; sql: string; values: SlotValues }

/** A run that was: what it was, and what came of it. */
export type PastRun = { at: string; sql: string; rows: number | null; elapsedMs: number | null; error: string | null }

type Kept = { tabs: Scratch[]; current: string; history: PastRun[] }

const mostTabs = 12
const mostRuns = 50
/** Longer SQL is run, and not kept in the history. */
const mostKeptChars = 20_000

/** The tabs of one person in one project and what was run in them, kept in this browser. */
export function useScratches(projectId: string, first: string) {
  const key = `sluice-playground ${useUser().id} ${projectId}`
  const [kept, setKept] = useState<Kept>(() => read(key) ?? begun(first))
  const change = (next: (before: Kept) => Kept): void =>
    setKept((before) => {
      const after = next(before)
      write(key, after)
      return after
    })
  const current = kept.tabs.find(({ id }) => id === kept.current) ?? kept.tabs[0] ?? newScratch([], first)
  return {
    ...kept,
    current,
    canAdd: kept.tabs.length < mostTabs,
    show: (id: string) => change((before) => ({ ...before, current: id })),
    add: (sql: string) =>
      change((before) => {
        const made = newScratch(before.tabs, sql)
        return { ...before, tabs: [...before.tabs, made], current: made.id }
      }),
    edit: (part: Partial<Scratch>) =>
      change((before) => ({
        ...before,
        tabs: before.tabs.map((tab) => (tab.id === current.id ? { ...tab, ...part } : tab)),
      })),
    close: (id: string) =>
      change((before) => {
        const at = before.tabs.findIndex((tab) => tab.id === id)
        const left = before.tabs.filter((tab) => tab.id !== id)
        const tabs = left.length === 0 ? [newScratch([], '')] : left
        const beside = tabs[Math.min(Math.max(at, 0), tabs.length - 1)]?.id ?? ''
        return { ...before, tabs, current: before.current === id ? beside : before.current }
      }),
    note: (run: PastRun) =>
      change((before) => ({
        ...before,
        history: run.sql.length > mostKeptChars ? before.history : [run, ...before.history].slice(0, mostRuns),
      })),
    forget: () => change((before) => ({ ...before, history: [] })),
  }
}

export type Scratches = ReturnType<typeof useScratches>

function begun(sql: string): Kept {
  const first = newScratch([], sql)
  return { tabs: [first], current: first.id, history: [] }
}

function newScratch(tabs: Scratch[], sql: string): Scratch {
  const taken = new Set(tabs.map(({ name }) => name))
  let number = 1
  while (taken.has(`Scratch ${number}`)) number += 1
  return { id: crypto.randomUUID(), name: `Scratch ${number}`, sql, values: {} }
}

function read(key: string): Kept | null {
  try {
    const kept = JSON.parse(localStorage.getItem(key) ?? 'null') as Kept | null
    return kept === null || kept.tabs.length === 0 ? null : kept
  } catch {
    return null
  }
}

function write(key: string, kept: Kept): void {
  try {
    localStorage.setItem(key, JSON.stringify(kept))
  } catch {
    // The browser's room is full: the page goes on, and forgets when it is left.
  }
}
