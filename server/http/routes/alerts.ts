import { z } from 'zod'
import {
  alert,
  alertChannel,
  alertDelivery,
  alertEvent,
  alertPreview,
  alertPreviewInput,
  alertTest,
  changeAlert,
  newAlert,
  rotateAlertSecret,
  silenceAlert,
} from '../../../api/alerts.ts'
import { pageOf, pageQuery } from '../../../api/envelope.ts'
import type { App } from '../../app.ts'
import * as usage from '../../usage/index.ts'
import { noContent, refusals } from '../answer/answers.ts'
import { callerOf } from '../request/caller.ts'
import type { Http } from '../request/http.ts'
import { fromWire, toWire } from '../../../api/wire-codec.ts'

const tags = ['usage']
const ofProject = z.object({ project_id: z.string() })
const ofAlert = ofProject.extend({ alert_id: z.string() })

// Over 70 lines: a list of routes.
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
      const input = fromWire(newAlert, request.body)
      const made = await usage.createAlert(app, callerOf(request), { ...input, projectId: request.params.project_id })
      return reply.code(201).send(wireAlert(made, app))
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
      return { data: page.items.map((each) => wireAlert(each, app)), next_cursor: page.nextCursor }
    },
  )

  http.get(
    '/v1/projects/:project_id/alerts/:alert_id',
    { schema: { tags, summary: 'One alert', params: ofAlert, response: { 200: alert, ...refusals } } },
    async (request) => wireAlert(await usage.findAlert(app, callerOf(request), placeOf(request.params)), app),
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
      const changes = fromWire(changeAlert, request.body)
      const changed = await usage.updateAlert(app, callerOf(request), { ...changes, ...placeOf(request.params) })
      return wireAlert(changed, app)
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
      return await usage.rotateAlertSecret(app, callerOf(request), input)
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

/** Trying out what an alert would do, and keeping it quiet. */
export function serveAlertTrials(http: Http, app: App): void {
  http.post(
    '/v1/projects/:project_id/alerts/preview',
    {
      schema: {
        tags,
        summary: 'When an alert with these rules would have fired, had it been there',
        description: 'Judged once a minute, as it would be now. Nothing is kept of it.',
        params: ofProject,
        body: alertPreviewInput,
        response: { 200: alertPreview, ...refusals },
      },
    },
    async (request) => {
      const rules = fromWire(alertPreviewInput, request.body)
      const input = { ...rules, projectId: request.params.project_id }
      return toWire(alertPreview, await usage.previewAlert(app, callerOf(request), input))
    },
  )

  http.post(
    '/v1/projects/:project_id/alerts/:alert_id/silence',
    {
      schema: {
        tags,
        summary: 'Let an alert tell nobody for some time',
        description: 'It is watched on, and its history says what it would have told. What still fires then is told.',
        params: ofAlert,
        body: silenceAlert,
        response: { 200: alert, ...refusals },
      },
    },
    async (request) => {
      const { until, minutes, reason } = request.body
      const given = { minutes, reason, until: until === undefined ? undefined : new Date(until) }
      return wireAlert(await usage.silenceAlert(app, callerOf(request), { ...placeOf(request.params), ...given }), app)
    },
  )

  http.delete(
    '/v1/projects/:project_id/alerts/:alert_id/silence',
    {
      schema: { tags, summary: 'Let an alert tell again', params: ofAlert, response: { 200: alert, ...refusals } },
    },
    async (request) => wireAlert(await usage.endSilence(app, callerOf(request), placeOf(request.params)), app),
  )
}

function placeOf(params: z.output<typeof ofAlert>): { projectId: string; alertId: string } {
  return { projectId: params.project_id, alertId: params.alert_id }
}

function wireAlert(each: usage.AlertRecord, { now }: Pick<App, 'now'>): z.output<typeof alert> {
  const { silencedUntil: until, silencedBy: by, silencedReason: reason } = each
  const isSilenced = until !== null && until.getTime() > now()
  return toWire(alert, { ...each, silenced: isSilenced ? { until, by: by ?? '', reason: reason ?? '' } : null })
}

function wireEvent(event: usage.AlertEvent): z.output<typeof alertEvent> {
  return toWire(alertEvent, event)
}

function wireDelivery(each: usage.Delivery): z.output<typeof alertDelivery> {
  return toWire(alertDelivery, each)
}
