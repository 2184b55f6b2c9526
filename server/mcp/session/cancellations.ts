import type { Database } from '../../store/index.ts'
import type { McpConnection } from './connection.ts'

/**
 * Clients of the protocols before 2026 cancel a call by a request of its own, which may reach another process than the
 * one that runs it: whoever has the call hears of it. Newer ones hang up.
 */
export type Cancellations = {
  /** The signal of a call that can be cancelled by its id, and how to forget it. */
  begin(connection: McpConnection, id: string | number): { signal: AbortSignal; done: () => void }
  cancel(connection: McpConnection, id: string | number): Promise<void>
  close(): void
}

const channel = 'mcp_call_cancelled'
const cancelled = new DOMException('The call was cancelled.', 'AbortError')
const maxIdChars = 200

export async function openCancellations(store: Database): Promise<Cancellations> {
  const running = new Map<string, AbortController>()
  const stop = await store.listen(channel, (name) => running.get(name)?.abort(cancelled))
  return {
    begin(connection, id) {
      const name = nameOf(connection, id)
      const controller = new AbortController()
      if (name === undefined) return { signal: controller.signal, done: () => undefined }
      running.set(name, controller)
      const done = (): void => {
        if (running.get(name) === controller) running.delete(name)
      }
      return { signal: controller.signal, done }
    },
    async cancel(connection, id) {
      const name = nameOf(connection, id)
      if (name === undefined) return
      const here = running.get(name)
      if (here !== undefined) here.abort(cancelled)
      else await store.notify(store.db, channel, name)
    },
    close: stop,
  }
}

/** The ids of two clients of one key are the same numbers, so only those that a session tells apart have a name. */
function nameOf({ caller, sessionId }: McpConnection, id: string | number): string | undefined {
  if (sessionId === null || String(id).length > maxIdChars) return undefined
  return `${caller.key.id} ${sessionId} ${JSON.stringify(id)}`
}
