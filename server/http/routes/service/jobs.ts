import type { z } from 'zod'
import { job, jobsQuery } from '../../../../api/jobs.ts'
import type { App } from '../../../app.ts'
import * as jobs from '../../../jobs/index.ts'
import { requireStill } from '../../request/caller.ts'
import type { EventStreams } from '../../answer/event-streams.ts'
import type { Http } from '../../request/http.ts'
import { toWire } from '../../../../api/wire-codec.ts'
import { eventStream, made, one, operations, page } from '../operations.ts'

export function serveJobs(http: Http, app: App): void {
  const { get, post } = operations(http, app, 'jobs')
  get('/v1/jobs/:job_id', { summary: 'One job', answer: one(job, wireJob) }, (app, caller, { jobId }) =>
    jobs.findJob(app, caller, jobId),
  )
  get(
    '/v1/projects/:project_id/jobs',
    { summary: 'The jobs of a project, newest first', query: jobsQuery, answer: page(job, wireJob) },
    jobs.listJobs,
  )
  post(
    '/v1/jobs/:job_id/cancel',
    {
      summary: 'Cancel a job',
      description: 'A queued job is cancelled at once. A running one is asked to stop and is cancelled when it has.',
      answer: one(job, wireJob),
    },
    (app, caller, { jobId }) => jobs.cancelJob(app, caller, jobId),
  )
  post(
    '/v1/jobs/:job_id/retry',
    { summary: 'Do a finished job again, as a new job', answer: made(job, wireJob) },
    (app, caller, { jobId }) => jobs.retryJob(app, caller, jobId),
  )
}

export function serveJobEvents(http: Http, app: App, streams: EventStreams): void {
  operations(http, app, 'jobs').get(
    '/v1/projects/:project_id/jobs/events',
    {
      summary: 'Every change of a job as it happens',
      description:
        'Server-sent events: `event: job` with the job as data, first for each job that is not finished, then on each change; `: ping` every 15 s. The stream ends now and then: connect again.',
      answer: eventStream,
    },
    (app, caller, { projectId }, { request, reply }) => {
      return streams.answer(reply, {
        caller,
        subscribe: ({ send, end }) =>
          jobs.watchJobs(app, caller, { projectId, onJob: (each) => send('job', wireJob(each)), onEnd: end }),
        stillMay: () => requireStill(app, request, projectId),
      })
    },
  )
}

export function wireJob(each: jobs.JobRecord): z.output<typeof job> {
  const isLoad = each.jobType === 'refresh_datasource'
  return toWire(job, { ...each, ...(isLoad && { warnings: each.details?.warnings ?? [] }) })
}
