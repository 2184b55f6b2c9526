import { useLocation, useSearch } from 'wouter'

/** The state of a page is in its address, so that a link shows what its sender saw. */
export type Address = {
  asked: URLSearchParams
  /** Changes some of it; an empty text takes a name out. `keep` makes a step that the browser goes back over. */
  choose: (changes: Record<string, string>, keep?: boolean) => void
}

export function useAddress(): Address {
  const [path, navigate] = useLocation()
  const asked = new URLSearchParams(useSearch())
  return {
    asked,
    choose: (changes, keep = false) => {
      for (const [name, value] of Object.entries(changes)) {
        if (value === '') asked.delete(name)
        else asked.set(name, value)
      }
      navigate(asked.size === 0 ? path : `${path}?${asked}`, { replace: !keep })
    },
  }
}
