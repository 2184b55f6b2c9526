import {
  changeNotificationChannel,
  newNotificationChannel,
  notificationChannel,
  rotateAlertSecret,
} from '../../../../api/alerts.ts'
import type { App } from '../../../app.ts'
import * as usage from '../../../usage/index.ts'
import type { Http } from '../../request/http.ts'
import { shortList, made, nothing, one, operations } from '../operations.ts'

const path = '/v1/projects/:project_id/alert-channels'

export function serveAlertChannels(http: Http, app: App): void {
  const { get, post, patch, del } = operations(http, app, 'usage')
  get(
    path,
    {
      summary: 'The channels that a project has for all its alerts',
      answer: shortList(notificationChannel),
    },
    (app, caller, { projectId }) => usage.listSharedChannels(app, caller, projectId),
  )
  post(
    path,
    {
      summary: 'Make a channel that any alert of the project can use',
      description: 'The secret of a webhook that is made here is in this answer and never again.',
      body: newNotificationChannel,
      answer: made(notificationChannel),
    },
    usage.createSharedChannel,
  )
  patch(
    `${path}/:shared_channel_id`,
    {
      summary: 'Rename a channel, or let it lead elsewhere for every alert that uses it',
      body: changeNotificationChannel,
      answer: one(notificationChannel),
    },
    usage.updateSharedChannel,
  )
  del(
    `${path}/:shared_channel_id`,
    { summary: 'Delete a channel that no alert uses', answer: nothing },
    usage.deleteSharedChannel,
  )
  post(
    `${path}/:shared_channel_id/test`,
    {
      summary: 'Send a test through a channel and say what became of it',
      answer: one(notificationChannel),
    },
    usage.testSharedChannel,
  )
  post(
    `${path}/:shared_channel_id/rotate`,
    {
      summary: 'Give a webhook of the project a new secret',
      body: rotateAlertSecret.nullish(),
      answer: one(notificationChannel),
    },
    (app, caller, { graceSeconds = 86_400, ...input }) =>
      usage.rotateSharedChannel(app, caller, { ...input, graceSeconds }),
  )
}
