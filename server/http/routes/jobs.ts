import { z } from 'zod'
import { pageOf } from '../../../api/envelope.ts'
import { job, jobsQuery } from '../../../api/jobs.ts'
import type { App } from '../../app.ts'
import * as jobs from '../../jobs/index.ts'
import { refusals } from '../answer/answers.ts'
import { callerOf, requireStill } from '../request/caller.ts'
import type { EventStreams } from '../answer/event-streams.ts'
import type { Http } from '../request/http.ts'
import { toWire } from '../../../api/wire-codec.ts'

const tags = ['jobs']
const ofProject = z.object({ project_id: z.string() })
const ofJob = z.object({ job_id: z.string() })

export function serveJobs(http: Http, app: App): void {
  http.get(
    '/v1/jobs/:job_id',
    { schema: { tags, summary: 'One job', params: ofJob, response: { 200: job, ...refusals } } },
    async (request) => wireJob(await jobs.findJob(app, callerOf(request), request.params.job_id)),
  )

  http.get(
    '/v1/projects/:project_id/jobs',
    {
      schema: {
        tags,
        summary: 'The jobs of a project, newest first',
        params: ofProject,
        querystring: jobsQuery,
        response: { 200: pageOf(job), ...refusals },
      },
    },
    async (request) => {
      const { source_id: sourceId, ...query } = request.query
      const input = { projectId: request.params.project_id, sourceId, ...query }
      const page = await jobs.listJobs(app, callerOf(request), input)
      return { data: page.items.map(wireJob), next_cursor: page.nextCursor }
    },
  )

  http.post(
    '/v1/jobs/:job_id/cancel',
    {
      schema: {
        tags,
        summary: 'Cancel a job',
        description: 'A queued job is cancelled at once. A running one is asked to stop and is cancelled when it has.',
        params: ofJob,
        response: { 200: job, ...refusals },
      },
    },
    async (request) => wireJob(await jobs.cancelJob(app, callerOf(request), request.params.job_id)),
  )

  http.post(
    '/v1/jobs/:job_id/retry',
    {
      schema: {
        tags,
        summary: 'Do a finished job again, as a new job',
        params: ofJob,
        response: { 201: job, ...refusals },
      },
    },
    async (request, reply) =>
      reply.code(201).send(wireJob(await jobs.retryJob(app, callerOf(request), request.params.job_id))),
  )
}

export function serveJobEvents(http: Http, app: App, streams: EventStreams): void {
  http.get(
    '/v1/projects/:project_id/jobs/events',
    {
      schema: {
        tags,
        summary: 'Every change of a job as it happens',
        description:
          'Server-sent events: `event: job` with the job as data, first for each job that is not finished, then on each change; `: ping` every 15 s. The stream ends now and then: connect again.',
        params: ofProject,
        response: {
          200: { description: 'The stream.', content: { 'text/event-stream': { schema: z.string() } } },
          ...refusals,
        },
      },
    },
    async (request, reply) => {
      const projectId = request.params.project_id
      const caller = callerOf(request)
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
  return toWire(job, each)
}
