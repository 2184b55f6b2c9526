import { useEffect, useRef, type RefObject } from 'react'

/** So much of it must show for someone to notice that it came. */
const noticedPx = 200

/** On a narrow page the answer stands below what it was asked with: the page goes there once it has come. */
export function useComeIntoView<Shown extends HTMLElement>(came: unknown): RefObject<Shown | null> {
  const shown = useRef<Shown>(null)
  useEffect(() => {
    const element = shown.current
    if (came === undefined || came === null || element === null) return
    if (element.getBoundingClientRect().top > window.innerHeight - noticedPx) element.scrollIntoView({ block: 'start' })
  }, [came])
  return shown
}
