import { useState } from 'react'
import { useUser } from '../../../client/queries.ts'
import type { SlotValues } from '../queries/slots/slots.ts'

export type Scratch = { id: string; name: string; sql: string; values: SlotValues }

/** A run that was: what it was, and what came of it. */
export type PastRun = { at: string; sql: string; rows: number | null; elapsedMs: number | null; error: string | null }

type Saved = { tabs: Scratch[]; current: string; history: PastRun[] }

const mostTabs = 12
const mostRuns = 50
/** Longer SQL is run, and not kept in the history. */
const mostSavedChars = 20_000

/** The tabs of one person in one project and what was run in them, kept in this browser. */
export function useScratches(projectId: string, first: string) {
  const key = `sluice-playground ${useUser().id} ${projectId}`
  const [saved, setSaved] = useState<Saved>(() => read(key) ?? begun(first))
  const change = (next: (before: Saved) => Saved): void =>
    setSaved((before) => {
      const after = next(before)
      write(key, after)
      return after
    })
  const current = saved.tabs.find(({ id }) => id === saved.current) ?? saved.tabs[0] ?? newScratch([], first)
  return {
    ...saved,
    current,
    canAdd: saved.tabs.length < mostTabs,
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
        history: run.sql.length > mostSavedChars ? before.history : [run, ...before.history].slice(0, mostRuns),
      })),
    forget: () => change((before) => ({ ...before, history: [] })),
  }
}

export type Scratches = ReturnType<typeof useScratches>

function begun(sql: string): Saved {
  const first = newScratch([], sql)
  return { tabs: [first], current: first.id, history: [] }
}

function newScratch(tabs: Scratch[], sql: string): Scratch {
  const taken = new Set(tabs.map(({ name }) => name))
  let number = 1
  while (taken.has(`Scratch ${number}`)) number += 1
  return { id: crypto.randomUUID(), name: `Scratch ${number}`, sql, values: {} }
}

function read(key: string): Saved | null {
  try {
    const saved = JSON.parse(localStorage.getItem(key) ?? 'null') as Saved | null
    return saved === null || saved.tabs.length === 0 ? null : saved
  } catch {
    return null
  }
}

function write(key: string, saved: Saved): void {
  try {
    localStorage.setItem(key, JSON.stringify(saved))
  } catch {
    // The browser's room is full: the page goes on, and forgets when it is left.
  }
}
