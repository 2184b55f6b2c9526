import { notifications } from '@mantine/notifications'
import {
  QueryClient,
  useInfiniteQuery,
  useMutation,
  useQuery,
  useQueryClient,
  type QueryKey,
  type UseMutationResult,
} from '@tanstack/react-query'
import { createElement, useRef } from 'react'
import { call, callAll, isRefusal } from './api.ts'
import { LedMessage, type Lead } from './led-message.tsx'
import type {
  Api,
  AuditEntry,
  Environment,
  Invitation,
  ManagementToken,
  Member,
  Page,
  Project,
  User,
  Variable,
} from './wire.ts'

export const keys = {
  session: ['session'],
  projects: ['projects'],
  project: (projectId: string) => ['projects', projectId],
  members: (projectId: string) => ['projects', projectId, 'members'],
  invitations: (projectId: string) => ['projects', projectId, 'invitations'],
  environments: (projectId: string) => ['projects', projectId, 'environments'],
  variables: (projectId: string) => ['projects', projectId, 'variables'],
  apis: (projectId: string) => ['projects', projectId, 'apis'],
  audit: (projectId: string) => ['projects', projectId, 'audit'],
  tokens: ['tokens'],
} satisfies Record<string, QueryKey | ((projectId: string) => QueryKey)>

/** `always`: the server may well be this machine, which the browser's idea of being online says nothing about. */
export function openQueryClient(): QueryClient {
  return new QueryClient({
    defaultOptions: {
      queries: { networkMode: 'always', staleTime: 10_000, retry: worthAnotherTry },
      mutations: { networkMode: 'always', retry: false },
    },
  })
}

function worthAnotherTry(failures: number, error: Error): boolean {
  return failures < 2 && (!isRefusal(error) || error.status >= 500)
}

/** The signed-in person, or null. Asked once: later the end of a session shows as a 401 of whatever is asked then. */
export function useSession() {
  return useQuery({
    queryKey: keys.session,
    queryFn: ({ signal }) => readSession(signal),
    staleTime: Infinity,
    gcTime: Infinity,
    ...(isStranger && { initialData: null }),
  })
}

/** The server says so of a page that was asked for without a session: asking who it is would only be refused. */
const isStranger = document.querySelector<HTMLMetaElement>('meta[name="visitor"]')?.content === 'stranger'

export async function readSession(signal?: AbortSignal): Promise<User | null> {
  try {
    return await call<User>('GET', '/v1/session', { open: true, ...(signal !== undefined && { signal }) })
  } catch (error) {
    if (isRefusal(error) && error.status === 401) return null
    throw error
  }
}

/** The person signed in, on pages that only such a person sees. */
export function useUser(): User {
  const { data } = useSession()
  if (data === undefined || data === null) throw new Error('This page is shown before anyone has signed in.')
  return data
}

export function useProjects() {
  return useQuery({
    queryKey: keys.projects,
    queryFn: ({ signal }) => callAll<Project>('/v1/projects', signal),
  })
}

export function useProject(projectId: string | undefined) {
  const client = useQueryClient()
  return useQuery({
    enabled: projectId !== undefined,
    queryKey: keys.project(projectId ?? ''),
    queryFn: ({ signal }) => call<Project>('GET', `/v1/projects/${projectId}`, { signal }),
    // The list knows the project already: the page need not wait.
    placeholderData: () => client.getQueryData<Project[]>(keys.projects)?.find(({ id }) => id === projectId),
  })
}

export function useMembers(projectId: string) {
  return useQuery({
    queryKey: keys.members(projectId),
    queryFn: async ({ signal }) =>
      (await call<Page<Member>>('GET', `/v1/projects/${projectId}/members`, { signal })).data,
  })
}

/** Only owners may see them. */
export function useInvitations(projectId: string, enabled: boolean) {
  return useQuery({
    queryKey: keys.invitations(projectId),
    enabled,
    queryFn: async ({ signal }) =>
      (await call<Page<Invitation>>('GET', `/v1/projects/${projectId}/invitations`, { signal })).data,
  })
}

export function useEnvironments(projectId: string) {
  return useQuery({
    queryKey: keys.environments(projectId),
    queryFn: async ({ signal }) =>
      (await call<Page<Environment>>('GET', `/v1/projects/${projectId}/environments`, { signal })).data,
  })
}

export function useVariables(projectId: string) {
  return useQuery({
    queryKey: keys.variables(projectId),
    queryFn: ({ signal }) => callAll<Variable>(`/v1/projects/${projectId}/variables`, signal),
  })
}

export function useApis(projectId: string) {
  return useQuery({
    queryKey: keys.apis(projectId),
    queryFn: ({ signal }) => callAll<Api>(`/v1/projects/${projectId}/apis`, signal),
  })
}

export function useTokens() {
  return usePages<ManagementToken>(keys.tokens, '/v1/management-tokens?limit=200')
}

/** `search`: what is looked for, as the API takes it. */
export function useAudit(projectId: string, search = '') {
  return usePages<AuditEntry>(
    [...keys.audit(projectId), search],
    `/v1/audit?project_id=${projectId}&limit=50${search === '' ? '' : `&${search}`}`,
  )
}

/** A list that is read from its newest end, a page at a time. */
export function usePages<Item>(queryKey: QueryKey, path: string, refreshMs: number | false = false) {
  return useInfiniteQuery({
    queryKey,
    refetchInterval: refreshMs,
    queryFn: ({ signal, pageParam }) =>
      call<Page<Item>>('GET', pageParam === '' ? path : `${path}&cursor=${encodeURIComponent(pageParam)}`, { signal }),
    initialPageParam: '',
    getNextPageParam: (page) => page.next_cursor,
    select: ({ pages }) => pages.flatMap((page) => page.data),
  })
}

/** Takes a project that is no longer ours out of what is known, before any page looks there again. */
export function useForgetProject(projectId: string): () => void {
  const client = useQueryClient()
  return () => {
    client.setQueryData<Project[]>(keys.projects, (list) => list?.filter(({ id }) => id !== projectId))
    client.removeQueries({ queryKey: keys.project(projectId) })
  }
}

/** An act that can be stopped while it runs. Stopping is no failure. `refresh` is what is out of date after either. */
export function useStoppable<Answer, Input = void>(
  act: (input: Input, signal: AbortSignal) => Promise<Answer>,
  refresh: QueryKey[] = [],
) {
  const running = useRef<AbortController>(null)
  const client = useQueryClient()
  const mutation = useMutation({
    mutationFn: (input: Input) => {
      running.current?.abort()
      running.current = new AbortController()
      return act(input, running.current.signal)
    },
    onSettled: async (_answer, error) => {
      const refreshed = Promise.all(refresh.map((queryKey) => client.invalidateQueries({ queryKey })))
      if (error === null) await refreshed
    },
  })
  const stopped = mutation.error?.name === 'AbortError'
  return { ...mutation, error: stopped ? null : mutation.error, stopped, stop: () => running.current?.abort() }
}

/** A change: what it does, what is out of date after it, and the sentence that says it is done. */
export function useAct<Answer, Input = void>(
  act: (input: Input) => Promise<Answer>,
  after: {
    refresh: QueryKey[]
    say?: (answer: Answer, input: Input) => string
    /** The way to what was made. */
    lead?: (answer: Answer) => Lead
  },
): UseMutationResult<Answer, Error, Input> {
  const client = useQueryClient()
  return useMutation({
    mutationFn: act,
    onSuccess: async (answer, input) => {
      if (after.say !== undefined) {
        const words = after.say(answer, input)
        notifications.show({
          message: after.lead === undefined ? words : createElement(LedMessage, { words, lead: after.lead(answer) }),
          color: 'green',
          closeButtonProps: { 'aria-label': 'Dismiss' },
        })
      }
      await Promise.all(after.refresh.map((queryKey) => client.invalidateQueries({ queryKey })))
    },
  })
}
