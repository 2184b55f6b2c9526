import { startTransition, useEffect, useState } from 'react'

/**
 * Whether the page around has been drawn. Charts take hundreds of milliseconds: the page that a click leads to is there
 * before they are, and they are worked out in pieces between other things.
 */
export function useAfterPaint(): boolean {
  const [isPainted, setIsPainted] = useState(false)
  useEffect(() => startTransition(() => setIsPainted(true)), [])
  return isPainted
}
