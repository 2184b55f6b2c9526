import type { Database } from '../store/index.ts'
import { jobChannel, readAnnouncement, type JobRecord } from './job.ts'

export type JobListener = {
  onJob: (job: JobRecord) => void
  /** Changes may have been missed, or none will come any more: begin again with what the records say. */
  onEnd: () => void
}

/** Changes of jobs, on whichever replica they happen. */
export type JobEvents = {
  watch(projectId: string, listener: JobListener): () => void
  close(): void
}

/** `onChange` and `onGap` are for the worker of this process, which hears of every project. */
export async function openEvents(
  store: Pick<Database, 'listen'>,
  { onChange, onGap }: { onChange: (job: JobRecord) => void; onGap: () => void },
): Promise<JobEvents> {
  const listeners = new Map<string, Set<JobListener>>()
  const endAll = () => {
    const all = [...listeners.values()]
    listeners.clear()
    for (const some of all) for (const { onEnd } of some) onEnd()
  }
  const stop = await store.listen(
    jobChannel,
    (payload) => {
      const job = readAnnouncement(payload)
      onChange(job)
      for (const listener of listeners.get(job.projectId) ?? []) listener.onJob(job)
    },
    () => {
      onGap()
      endAll()
    },
  )
  return {
    watch(projectId, listener) {
      const some = listeners.get(projectId) ?? new Set()
      listeners.set(projectId, some.add(listener))
      return () => {
        some.delete(listener)
        if (some.size === 0 && listeners.get(projectId) === some) listeners.delete(projectId)
      }
    },
    close() {
      stop()
      endAll()
    },
  }
}
