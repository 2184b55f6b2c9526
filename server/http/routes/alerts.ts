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
import { fromWire, toWire } from '../wire-codec.ts'

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
      const changes = fromWire(changeAlert, request.body)
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

function wireAlert(each: usage.AlertRecord): z.output<typeof alert> {
  return toWire(alert, each)
}

function wireEvent(event: usage.AlertEvent): z.output<typeof alertEvent> {
  return toWire(alertEvent, event)
}

function wireDelivery(each: usage.Delivery): z.output<typeof alertDelivery> {
  return toWire(alertDelivery, each)
}
