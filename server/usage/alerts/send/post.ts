/** What alerts need of whoever calls addresses beyond this server. A port: it knows nothing of how they are guarded. */
export type Post = {
  send(
    url: string,
    message: { headers: Record<string, string>; body: string; timeoutMs: number; signal: AbortSignal },
  ): Promise<{ ok: true; status: number } | { ok: false; code: string; message: string }>
  /** Whether an address could be called as things stand, without calling it: null, or why not. */
  check(url: string): Promise<{ code: string; message: string } | null>
}
