import { useMutation, useQueryClient, type UseMutationResult } from '@tanstack/react-query'
import { useLocation } from 'wouter'
import { call, isRefusal } from './api.ts'
import { paths } from './paths.ts'
import { keys } from './queries.ts'

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
