import { useSyncExternalStore } from 'react'

/** Calls that met the end of the session wait here, all for one sign-in. */
type Renewal = { renewed: Promise<boolean>; settle: (renewed: boolean) => void }

let renewal: Renewal | null = null
const listeners = new Set<() => void>()

/** Resolves to true once someone has signed in again, to false when they would rather not. */
export function askToSignInAgain(): Promise<boolean> {
  if (renewal === null) {
    const { promise, resolve } = Promise.withResolvers<boolean>()
    renewal = {
      renewed: promise,
      settle: (renewed) => {
        renewal = null
        resolve(renewed)
        notify()
      },
    }
    notify()
  }
  return renewal.renewed
}

/** The sign-in that calls are waiting for, or null. */
export function useRenewal(): Renewal | null {
  return useSyncExternalStore(subscribe, () => renewal)
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener)
  return () => void listeners.delete(listener)
}

function notify(): void {
  for (const listener of listeners) listener()
}
