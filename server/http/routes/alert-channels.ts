import { z } from 'zod'
import {
  changeNotificationChannel,
  newNotificationChannel,
  notificationChannel,
  rotateAlertSecret,
} from '../../../api/alerts.ts'
import type { App } from '../../app.ts'
import * as usage from '../../usage/index.ts'
import { noContent, refusals } from '../answer/answers.ts'
import { callerOf } from '../request/caller.ts'
import type { Http } from '../request/http.ts'
import { toWire } from '../../../api/wire-codec.ts'

const tags = ['usage']
const ofProject = z.object({ project_id: z.string() })
const ofChannel = ofProject.extend({ shared_channel_id: z.string() })
const path = '/v1/projects/:project_id/alert-channels'

// Over 70 lines: a list of routes.
export function serveAlertChannels(http: Http, app: App): void {
  http.get(
    path,
    {
      schema: {
        tags,
        summary: 'The channels that a project has for all its alerts',
        params: ofProject,
        response: { 200: z.object({ data: z.array(notificationChannel), next_cursor: z.null() }), ...refusals },
      },
    },
    async (request) => {
      const channels = await usage.listSharedChannels(app, callerOf(request), request.params.project_id)
      return { data: channels.map(wireChannel), next_cursor: null }
    },
  )

  http.post(
    path,
    {
      schema: {
        tags,
        summary: 'Make a channel that any alert of the project can use',
        description: 'The secret of a webhook that is made here is in this answer and never again.',
        params: ofProject,
        body: newNotificationChannel,
        response: { 201: notificationChannel, ...refusals },
      },
    },
    async (request, reply) => {
      const input = { projectId: request.params.project_id, ...request.body }
      return reply.code(201).send(wireChannel(await usage.createSharedChannel(app, callerOf(request), input)))
    },
  )

  http.patch(
    `${path}/:shared_channel_id`,
    {
      schema: {
        tags,
        summary: 'Rename a channel, or let it lead elsewhere for every alert that uses it',
        params: ofChannel,
        body: changeNotificationChannel,
        response: { 200: notificationChannel, ...refusals },
      },
    },
    async (request) => {
      const input = { ...placeOf(request.params), ...request.body }
      return wireChannel(await usage.updateSharedChannel(app, callerOf(request), input))
    },
  )

  http.delete(
    `${path}/:shared_channel_id`,
    {
      schema: {
        tags,
        summary: 'Delete a channel that no alert uses',
        params: ofChannel,
        response: { 204: noContent, ...refusals },
      },
    },
    async (request, reply) => {
      await usage.deleteSharedChannel(app, callerOf(request), placeOf(request.params))
      return reply.code(204).send()
    },
  )

  http.post(
    `${path}/:shared_channel_id/test`,
    {
      schema: {
        tags,
        summary: 'Send a test through a channel and say what became of it',
        params: ofChannel,
        response: { 200: notificationChannel, ...refusals },
      },
    },
    async (request) => wireChannel(await usage.testSharedChannel(app, callerOf(request), placeOf(request.params))),
  )

  http.post(
    `${path}/:shared_channel_id/rotate`,
    {
      schema: {
        tags,
        summary: 'Give a webhook of the project a new secret',
        params: ofChannel,
        body: rotateAlertSecret.nullish(),
        response: { 200: notificationChannel, ...refusals },
      },
    },
    async (request) => {
      const { grace_seconds: graceSeconds } = request.body ?? { grace_seconds: 86_400 }
      const input = { ...placeOf(request.params), graceSeconds }
      return wireChannel(await usage.rotateSharedChannel(app, callerOf(request), input))
    },
  )
}

function placeOf(params: z.output<typeof ofChannel>): { projectId: string; channelId: string } {
  return { projectId: params.project_id, channelId: params.shared_channel_id }
}

function wireChannel(channel: usage.SharedChannel): z.output<typeof notificationChannel> {
  return toWire(notificationChannel, channel)
}
