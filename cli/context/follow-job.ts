import { setTimeout as wait } from 'node:timers/promises'
import type { z } from 'zod'
import type { datasource } from '../../api/datasources.ts'
import type { job } from '../../api/jobs.ts'
import { countText } from '../terminal/texts.ts'
import type { Context } from './context.ts'

export type Job = z.output<typeof job>

export const finalStates = new Set(['succeeded', 'failed', 'cancelled'])
const lookMs = 500

/** Waits for the end of a job with a bar that follows it. */
export async function followJob(context: Context, id: string, name = ''): Promise<Job> {
  const manage = await context.manage()
  const progress = context.progress()
  try {
    for (;;) {
      const job = await manage.get<Job>(`/v1/jobs/${encodeURIComponent(id)}`)
      if (finalStates.has(job.status)) return job
      progress.show(
        job.status === 'running' ? job.progress : null,
        `${name}${name === '' ? '' : '  '}${progressText(job)}`,
      )
      await wait(lookMs)
    }
  } finally {
    progress.end()
  }
}

export function progressText({ status, details, attempt }: Job): string {
  const again = attempt > 1 ? `, try ${attempt}` : ''
  if (details === null) return `${status}${again}`
  return `${countText(details.rows, 'row')}, ${countText(details.pages, 'page')}${again}`
}

/** Prints why a load may not be whole, and whether its version is held. */
export async function printDoubts(context: Context, { warnings = [], project_id: projectId, source_id: id }: Job) {
  const { print, style } = context
  const path = `/v1/projects/${projectId}/datasources/${id}`
  const { held } = await (await context.manage()).get<z.output<typeof datasource>>(path)
  const isSaid = held?.held_because.reason === 'incomplete'
  if (!isSaid) for (const { message } of warnings) print(`${style.warn('!')} ${message}`)
  if (held === null) return
  print(`${style.warn('!')} Version ${held.version} is held: ${held.held_because.message}`)
}
