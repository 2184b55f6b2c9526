import { useEffect, useRef } from 'react'

/**
 * What is being edited outlives leaving the page, in this window and for this person. `base` is what it began from: an
 * edit of something that has changed since is not taken up again.
 */
type Kept = { base: string; content: object }

/** Keeps what is not saved; null takes it away. */
export function useKept(key: string, base: string, content: object | null): void {
  const text = content === null ? null : JSON.stringify({ base, content } satisfies Kept)
  const before = useRef(key)
  useEffect(() => {
    // Something new has got its own name by being saved.
    if (before.current !== key) sessionStorage.removeItem(before.current)
    before.current = key
    if (text === null) sessionStorage.removeItem(key)
    else sessionStorage.setItem(key, text)
  }, [key, text])
}

export function readKept(key: string, base: string): object | null {
  const text = sessionStorage.getItem(key)
  if (text === null) return null
  const kept = JSON.parse(text) as Kept
  return kept.base === base ? kept.content : null
}
