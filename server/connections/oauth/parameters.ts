type Wishes = {
  scope?: string | undefined
  audience?: string | undefined
  parameters?: Record<string, string> | undefined
}

/** Parameters for an authorization server: those that its author adds, and those of the protocol. */
export function parametersOf(
  { scope = '', audience = '', parameters = {} }: Wishes,
  asked: Record<string, string>,
): Record<string, string> {
  return { ...parameters, ...(scope !== '' && { scope }), ...(audience !== '' && { audience }), ...asked }
}
