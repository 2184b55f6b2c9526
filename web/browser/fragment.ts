import { useEffect, useState } from 'react'

/** The part of the address after `#`, kept once it was seen there: pages take it out of the address and the history. */
export function useFragment(): string {
  const [fragment, setFragment] = useState(() => location.hash.slice(1))
  useEffect(() => {
    // A link pasted into a tab that shows this page already loads nothing anew.
    const read = (): void => {
      if (location.hash !== '') setFragment(location.hash.slice(1))
    }
    addEventListener('hashchange', read)
    return () => removeEventListener('hashchange', read)
  }, [])
  return fragment
}
