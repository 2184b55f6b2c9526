import type { z } from 'zod'
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
} from '../../../../api/alerts.ts'
import { toWire } from '../../../../api/wire-codec.ts'
import type { App } from '../../../app.ts'
import * as usage from '../../../usage/index.ts'
import type { Http } from '../../request/http.ts'
import { asItIs, made, nothing, one, operations, page, pageOnly } from '../operations.ts'

const alerts = '/v1/projects/:project_id/alerts'
const path = `${alerts}/:alert_id`

export function serveAlerts(http: Http, app: App): void {
  const { get, post, patch, del } = operations(http, app, 'usage')
  const wire = (each: usage.AlertRecord) => wireAlert(each, app)
  post(
    alerts,
    {
      summary: 'Create an alert',
      description: 'The secret of a webhook that is made here is in this answer and never again.',
      body: newAlert,
      answer: made(alert, wire),
    },
    usage.createAlert,
  )
  get(
    alerts,
    {
      summary: 'The alerts of a project',
      query: pageOnly,
      answer: page(alert, wire),
    },
    usage.listAlerts,
  )
  get(path, { summary: 'One alert', answer: one(alert, wire) }, usage.findAlert)
  patch(
    path,
    {
      summary: 'Change an alert',
      description: 'One that is changed in what it watches begins anew.',
      body: changeAlert,
      answer: one(alert, wire),
    },
    usage.updateAlert,
  )
  del(path, { summary: 'Delete an alert', answer: nothing }, usage.deleteAlert)
}

export function serveAlertActs(http: Http, app: App): void {
  const { get, post } = operations(http, app, 'usage')
  post(
    `${path}/test`,
    { summary: 'Send a test through every channel of an alert', answer: one(alertTest) },
    usage.testAlert,
  )
  post(
    `${path}/channels/:channel_id/rotate`,
    {
      summary: 'Give a webhook a new secret',
      body: rotateAlertSecret.nullish(),
      answer: asItIs(alertChannel),
    },
    (app, caller, { graceSeconds = 86_400, ...input }) =>
      usage.rotateAlertSecret(app, caller, { ...input, graceSeconds }),
  )
  get(
    `${path}/history`,
    {
      summary: 'What an alert went through, newest first',
      query: pageOnly,
      answer: page(alertEvent),
    },
    usage.listEvents,
  )
  get(
    `${path}/deliveries`,
    {
      summary: 'What was sent to whom and what became of it, newest first',
      query: pageOnly,
      answer: page(alertDelivery),
    },
    usage.listDeliveries,
  )
}

/** Trying out what an alert would do, and keeping it quiet. */
export function serveAlertTrials(http: Http, app: App): void {
  const { post, del } = operations(http, app, 'usage')
  const wire = (each: usage.AlertRecord) => wireAlert(each, app)
  post(
    `${alerts}/preview`,
    {
      summary: 'When an alert with these rules would have fired, had it been there',
      description: 'Judged once a minute, as it would be now. Nothing is kept of it.',
      body: alertPreviewInput,
      answer: one(alertPreview),
    },
    usage.previewAlert,
  )
  post(
    `${path}/silence`,
    {
      summary: 'Let an alert tell nobody for some time',
      description: 'It is watched on, and its history says what it would have told. What still fires then is told.',
      body: silenceAlert,
      answer: one(alert, wire),
    },
    (app, caller, { until, ...input }) =>
      usage.silenceAlert(app, caller, { ...input, until: until === undefined ? undefined : new Date(until) }),
  )
  del(`${path}/silence`, { summary: 'Let an alert tell again', answer: one(alert, wire) }, usage.endSilence)
}

function wireAlert(each: usage.AlertRecord, { now }: Pick<App, 'now'>): z.output<typeof alert> {
  const { silencedUntil: until, silencedBy: by, silencedReason: reason } = each
  const isSilenced = until !== null && until.getTime() > now()
  return toWire(alert, { ...each, silenced: isSilenced ? { until, by: by ?? '', reason: reason ?? '' } : null })
}
