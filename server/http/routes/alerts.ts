import { z } from 'zod'
import {
  alert,
  alertChannel,
  alertDelivery,
  alertEvent,
  alertTest,
  changeAlert,
  newAlert,
  rotateAlertSecret,
} from '../../../api/alerts.ts'
import { pageOf, pageQuery } from '../../../api/envelope.ts'
import type { App } from '../../app.ts'
import * as usage from '../../usage/index.ts'
import { noContent, refusals } from '../answers.ts'
import { callerOf } from '../caller.ts'
import type { Http } from '../http.ts'

const tags = ['usage']
const ofProject = z.object({ project_id: z.string() })
const ofAlert = ofProject.extend({ alert_id: z.string() })

export function serveAlerts(http: Http, app: App): void {
  http.post(
    '/v1/projects/:project_id/alerts',
    {
      schema: {
        tags,
        summary: 'Create an alert',
        description: 'The secret of a webhook that is made here is in this answer and never again.',
        params: ofProject,
        body: newAlert,
        response: { 201: alert, ...refusals },
      },
    },
    async (request, reply) => {
      const { name, type, enabled, channels, query } = request.body
      const input = { ...inputOf(request.body), name, type, enabled, channels, query }
      const made = await usage.createAlert(app, callerOf(request), { ...input, projectId: request.params.project_id })
      return reply.code(201).send(wireAlert(made))
    },
  )

  http.get(
    '/v1/projects/:project_id/alerts',
    {
      schema: {
        tags,
        summary: 'The alerts of a project',
        params: ofProject,
        querystring: z.strictObject(pageQuery),
        response: { 200: pageOf(alert), ...refusals },
      },
    },
    async (request) => {
      const input = { projectId: request.params.project_id, ...request.query }
      const page = await usage.listAlerts(app, callerOf(request), input)
      return { data: page.items.map(wireAlert), next_cursor: page.nextCursor }
    },
  )

  http.get(
    '/v1/projects/:project_id/alerts/:alert_id',
    { schema: { tags, summary: 'One alert', params: ofAlert, response: { 200: alert, ...refusals } } },
    async (request) => wireAlert(await usage.findAlert(app, callerOf(request), placeOf(request.params))),
  )

  http.patch(
    '/v1/projects/:project_id/alerts/:alert_id',
    {
      schema: {
        tags,
        summary: 'Change an alert',
        description: 'One that is changed in what it watches begins anew.',
        params: ofAlert,
        body: changeAlert,
        response: { 200: alert, ...refusals },
      },
    },
    async (request) => {
      const { name, type, enabled, channels, query } = request.body
      const known = Object.entries({ ...inputOf(request.body), name, type, enabled, channels, query })
      const changes = Object.fromEntries(known.filter(([, value]) => value !== undefined))
      return wireAlert(await usage.updateAlert(app, callerOf(request), { ...changes, ...placeOf(request.params) }))
    },
  )

  http.delete(
    '/v1/projects/:project_id/alerts/:alert_id',
    { schema: { tags, summary: 'Delete an alert', params: ofAlert, response: { 204: noContent, ...refusals } } },
    async (request, reply) => {
      await usage.deleteAlert(app, callerOf(request), placeOf(request.params))
      return reply.code(204).send()
    },
  )
}

export function serveAlertActs(http: Http, app: App): void {
  http.post(
    '/v1/projects/:project_id/alerts/:alert_id/test',
    {
      schema: {
        tags,
        summary: 'Send a test through every channel of an alert',
        params: ofAlert,
        response: { 200: alertTest, ...refusals },
      },
    },
    async (request) => {
      const { deliveryIds } = await usage.testAlert(app, callerOf(request), placeOf(request.params))
      return { delivery_ids: deliveryIds }
    },
  )

  http.post(
    '/v1/projects/:project_id/alerts/:alert_id/channels/:channel_id/rotate',
    {
      schema: {
        tags,
        summary: 'Give a webhook a new secret',
        params: ofAlert.extend({ channel_id: z.string() }),
        body: rotateAlertSecret.nullish(),
        response: { 200: alertChannel, ...refusals },
      },
    },
    async (request) => {
      const { grace_seconds: graceSeconds } = request.body ?? { grace_seconds: 86_400 }
      const input = { ...placeOf(request.params), channelId: request.params.channel_id, graceSeconds }
      return usage.rotateAlertSecret(app, callerOf(request), input)
    },
  )

  http.get(
    '/v1/projects/:project_id/alerts/:alert_id/history',
    {
      schema: {
        tags,
        summary: 'What an alert went through, newest first',
        params: ofAlert,
        querystring: z.strictObject(pageQuery),
        response: { 200: pageOf(alertEvent), ...refusals },
      },
    },
    async (request) => {
      const page = await usage.listEvents(app, callerOf(request), { ...placeOf(request.params), ...request.query })
      return { data: page.items.map(wireEvent), next_cursor: page.nextCursor }
    },
  )

  http.get(
    '/v1/projects/:project_id/alerts/:alert_id/deliveries',
    {
      schema: {
        tags,
        summary: 'What was sent to whom and what became of it, newest first',
        params: ofAlert,
        querystring: z.strictObject(pageQuery),
        response: { 200: pageOf(alertDelivery), ...refusals },
      },
    },
    async (request) => {
      const page = await usage.listDeliveries(app, callerOf(request), { ...placeOf(request.params), ...request.query })
      return { data: page.items.map(wireDelivery), next_cursor: page.nextCursor }
    },
  )
}

function placeOf(params: z.output<typeof ofAlert>): { projectId: string; alertId: string } {
  return { projectId: params.project_id, alertId: params.alert_id }
}

type Body = z.output<typeof newAlert>

function inputOf<Given extends Partial<Body> | z.output<typeof changeAlert>>(body: Given) {
  return {
    threshold: body.threshold as Given['threshold'],
    resolveThreshold: body.resolve_threshold as Given['resolve_threshold'],
    windowMinutes: body.window_minutes as Given['window_minutes'],
    forMinutes: body.for_minutes as Given['for_minutes'],
    minRequests: body.min_requests as Given['min_requests'],
    remindMinutes: body.remind_minutes as Given['remind_minutes'],
    environment: body.environment as Given['environment'],
  }
}

function wireAlert(each: usage.AlertRecord): z.output<typeof alert> {
  return {
    id: each.id,
    project_id: each.projectId,
    name: each.name,
    type: each.type,
    threshold: each.threshold,
    resolve_threshold: each.resolveThreshold,
    window_minutes: each.windowMinutes,
    for_minutes: each.forMinutes,
    min_requests: each.minRequests,
    remind_minutes: each.remindMinutes,
    environment: each.environment,
    query: each.query,
    enabled: each.enabled,
    channels: each.channels,
    state: each.state,
    value: each.value,
    started_at: each.startedAt?.toISOString() ?? null,
    evaluated_at: each.evaluatedAt?.toISOString() ?? null,
    created_at: each.createdAt.toISOString(),
  }
}

function wireEvent({ at, ...event }: usage.AlertEvent): z.output<typeof alertEvent> {
  return { ...event, at: at.toISOString() }
}

function wireDelivery(each: usage.Delivery): z.output<typeof alertDelivery> {
  return {
    id: each.id,
    event_id: each.eventId,
    channel_id: each.channelId,
    channel_type: each.channelType,
    target: each.target,
    status: each.status,
    attempt: each.attempt,
    created_at: each.createdAt.toISOString(),
    next_attempt_at: each.nextAttemptAt?.toISOString() ?? null,
    finished_at: each.finishedAt?.toISOString() ?? null,
    response_status: each.responseStatus,
    error: each.error,
  }
}
