import { useMutation, useQueryClient, type UseMutationResult } from '@tanstack/react-query'
import { useSyncExternalStore } from 'react'
import { useLocation } from 'wouter'
import { call, isRefusal } from './api.ts'
import { paths } from '../browser/paths.ts'
import { keys, useUser } from './queries.ts'

export function useSignOut(): UseMutationResult<void, Error, void> {
  const client = useQueryClient()
  const [, navigate] = useLocation()
  return useMutation({
    mutationFn: async () => {
      try {
        await call<undefined>('DELETE', '/v1/session', { open: true })
      } catch (error) {
        // The session had ended by itself.
        if (!isRefusal(error) || error.status !== 401) throw error
      }
    },
    onSuccess: () => {
      navigate(paths.signIn)
      client.clear()
      client.setQueryData(keys.session, null)
    },
  })
}

let isAsked = false
const listeners = new Set<() => void>()

function setAsked(next: boolean): void {
  isAsked = next
  for (const listener of listeners) listener()
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener)
  return () => void listeners.delete(listener)
}

/** Whether someone wants to leave who has no way back, and the way to stay. */
export function useLeaving(): { isAsked: boolean; stay: () => void } {
  return { isAsked: useSyncExternalStore(subscribe, () => isAsked), stay: () => setAsked(false) }
}

/** Signs out; who has neither e-mail nor password is asked first. */
export function useLeave(): () => void {
  const user = useUser()
  const signOut = useSignOut()
  const hasWayIn = user.email !== null && user.has_password
  return () => (hasWayIn ? signOut.mutate() : setAsked(true))
}
