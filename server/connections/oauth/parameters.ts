type Wishes = {
  scope?: string | undefined
  audience?: string | undefined
  parameters?: Record<string, string> | undefined
}

/** What goes to an authorization server: what its author wishes beside it, and what the protocol asks for. */
export function parametersOf(
  { scope = '', audience = '', parameters = {} }: Wishes,
  asked: Record<string, string>,
): Record<string, string> {
  return { ...parameters, ...(scope !== '' && { scope }), ...(audience !== '' && { audience }), ...asked }
}
