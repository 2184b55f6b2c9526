/** Context of a statement: who asks, where its names lead, what it may use, and until when. */
export type RunAs = { user: string; schema: string; session: Record<string, string>; signal: AbortSignal }
