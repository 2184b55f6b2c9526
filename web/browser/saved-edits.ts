import { useEffect, useRef } from 'react'

/**
 * Unsaved edits outlive leaving the page, in this window and for this person. `base` is what the edit began from: an
 * edit of something that has changed since is not taken up again.
 */
type SavedEdit = { base: string; content: object }

/** Keeps what is not saved; null takes it away. */
export function useSavedEdit(key: string, base: string, content: object | null): void {
  const text = content === null ? null : JSON.stringify(content)
  const before = useRef(key)
  useEffect(() => {
    // Something new has got its own name by being saved.
    if (before.current !== key) sessionStorage.removeItem(before.current)
    before.current = key
    saveEdit(key, base, text === null ? null : (JSON.parse(text) as object))
  }, [key, base, text])
}

/** The same at once, for what the page may take its time to draw. */
export function saveEdit(key: string, base: string, content: object | null): void {
  if (content === null) sessionStorage.removeItem(key)
  else sessionStorage.setItem(key, JSON.stringify({ base, content } satisfies SavedEdit))
}

export function readEdit(key: string, base: string): object | null {
  const text = sessionStorage.getItem(key)
  if (text === null) return null
  const saved = JSON.parse(text) as SavedEdit
  return saved.base === base ? saved.content : null
}
