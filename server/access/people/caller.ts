import type { Role } from '../../store/index.ts'

/**
 * The caller of a verb, made by a transport from a checked credential, never from input. `requestId` travels along so
 * that the audit log can point at the request.
 */
export type Caller = { requestId: string | null } & (
  | { kind: 'user'; userId: string; label: string; administrator: boolean }
  | {
      kind: 'token'
      tokenId: string
      label: string
      /** Scope of the token itself: one project, or with null every project its maker reaches. */
      projectId: string | null
      role: Role
      /** The token does no more than its maker may. Null: made by the operator. */
      maker: { userId: string; administrator: boolean } | null
    }
  /** Holds the token of `SLUICE_MANAGEMENT_TOKEN`. */
  | { kind: 'operator' }
  /** The service itself: start-up, schedules, jobs. */
  | { kind: 'system' }
)

export const systemCaller: Caller = { kind: 'system', requestId: null }

/** The person behind a caller, where there is one: the maker of a token counts as its person. */
export function personOf(caller: Caller): string | null {
  if (caller.kind === 'user') return caller.userId
  if (caller.kind === 'token') return caller.maker?.userId ?? null
  return null
}

/** Name of a caller, for people. */
export function labelOf(caller: Caller): string {
  return 'label' in caller ? caller.label : caller.kind
}
