import { Command } from 'commander'
import { setTimeout as wait } from 'node:timers/promises'
import { does } from '../../context/command.ts'
import type { Context } from '../../context/context.ts'
import { finalStates, followJob, progressText, type Job } from '../../context/follow-job.ts'
import { CommandFailure } from '../../terminal/exit.ts'
import { table, titled } from '../../terminal/table.ts'
import { timeText } from '../../terminal/texts.ts'

type Options = { status?: string; limit?: string }

const reconnectMs = 1_000

export function jobsCommand(): Command {
  const command = new Command('jobs')
  const list = new Command('list')
    .summary('the newest jobs')
    .option('--status <status>', 'only queued, running, succeeded, failed or cancelled')
    .option('-n, --limit <count>', 'how many', '20')
  const watch = new Command('watch')
    .summary('jobs as they go')
    .description('One job until it ends, or every job of the project until Ctrl-C.')
    .argument('[job]', 'the id of one')
  command.addCommand(does<Options>(list, listJobs), { isDefault: true })
  command.addCommand(does(watch, watchJobs))
  command.addCommand(does(acting('cancel', 'end a job that has not ended'), (...given) => actOn('cancel', ...given)))
  command.addCommand(does(acting('retry', 'do a finished job again'), (...given) => actOn('retry', ...given)))
  return command
}

function acting(name: string, summary: string): Command {
  return new Command(name).summary(summary).argument('<job>', 'the id of a job')
}

async function listJobs(context: Context, options: Options): Promise<void> {
  const manage = await context.manage()
  const path = `/v1/projects/${await context.projectId()}/jobs`
  const filter = options.status === undefined ? {} : { status: options.status }
  const jobs = await manage.list<Job>(path, filter, Number(options.limit ?? 20))
  if (context.json) context.printJson(jobs)
  else if (jobs.length === 0) context.print('There are no jobs.')
  else {
    const columns = titled('Job', 'Created', 'Type', 'Status', 'Progress', 'Why')
    const rows = jobs.map((job) => [
      job.id,
      timeText(job.created_at),
      job.job_type,
      statusText(job, context),
      finalStates.has(job.status) ? '' : `${Math.floor(job.progress * 100)} %`,
      job.error?.message ?? '',
    ])
    context.print(table(columns, rows, context.width))
  }
}

async function actOn(act: 'cancel' | 'retry', context: Context, _options: object, [id = '']: string[]): Promise<void> {
  const manage = await context.manage()
  const job = await manage.send<Job>('POST', `/v1/jobs/${encodeURIComponent(id)}/${act}`)
  if (context.json) context.printJson(job)
  else context.print(`${job.id} is ${job.status}.`)
}

function statusText({ status }: Job, { style }: Context): string {
  if (status === 'succeeded') return style.good(status)
  return status === 'failed' ? style.bad(status) : status
}

async function watchJobs(context: Context, _options: object, [id]: string[]): Promise<void> {
  if (id === undefined) return watchAll(context)
  const job = await followJob(context, id)
  if (context.json) context.printJson(job)
  else context.print(jobLine(job, context))
  if (job.status !== 'succeeded') {
    throw new CommandFailure('negative', job.error?.message ?? `The job was ${job.status}.`, { fields: { job } })
  }
}

/** Every change of every job. The stream ends now and then: it is opened again until somebody ends it. */
async function watchAll(context: Context): Promise<void> {
  const manage = await context.manage()
  const path = `/v1/projects/${await context.projectId()}/jobs/events`
  const progress = context.progress()
  context.note(context.noteStyle.dim('Watching jobs; Ctrl-C ends it.'))
  const printed = new Map<string, string>()
  try {
    for (;;) {
      for await (const { event, data } of manage.events(path)) {
        if (event !== 'job') continue
        const job = data as Job
        if (context.json) process.stdout.write(`${JSON.stringify(job)}\n`)
        else if (job.status === 'running') progress.show(job.progress, `${job.job_type}  ${progressText(job)}`)
        if (!context.json && printed.get(job.id) !== job.status) context.print(jobLine(job, context))
        printed.set(job.id, job.status)
      }
      await wait(reconnectMs)
    }
  } finally {
    progress.end()
  }
}

function jobLine(job: Job, context: Context): string {
  const why = job.error === null ? '' : `  ${job.error.message}`
  return `${timeText(job.finished_at ?? job.started_at ?? job.created_at)}  ${job.id}  ${job.job_type}  ${statusText(job, context)}${why}`
}
