/** A port: sends messages to addresses beyond this server, guarded by its owner. */
export type Post = {
  send(
    url: string,
    message: { headers: Record<string, string>; body: string; timeoutMs: number; signal: AbortSignal },
  ): Promise<{ ok: true; status: number } | { ok: false; code: string; message: string }>
  /** Checks an address without calling it: null, or why it cannot be called. */
  check(url: string): Promise<{ code: string; message: string } | null>
}
