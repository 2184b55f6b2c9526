import { z } from 'zod'
import { displayName, timestamp } from './envelope.ts'
import { fixedLimits } from './limits.ts'

/** A type is added here; the compiler then names the rows of the server and of the web app that are missing. */
const alertType = z.enum([
  'error_rate_above',
  'p95_latency_above',
  'requests_above',
  'requests_below',
  'unanswered_rate_above',
  'confidence_below',
  'flagged_share_above',
  'job_failed',
  'data_stale',
  'schema_drift',
  'data_held',
])
export type AlertType = z.output<typeof alertType>

const address = z.string().max(2_048)

const recipients = z.union([
  z.email().transform((to) => [to]),
  z.array(z.email()).min(1).max(fixedLimits.alertRecipients.value),
])

const newChannel = z.discriminatedUnion('type', [
  z.strictObject({
    type: z.literal('webhook'),
    url: address,
    secret: z.string().max(200).optional().meta({ description: 'whsec_…; one is made and shown once if left out.' }),
  }),
  z.strictObject({ type: z.literal('slack'), url: address }),
  z.strictObject({
    type: z.literal('email'),
    to: recipients,
  }),
])
const sharedChannel = z
  .strictObject({ type: z.literal('shared'), id: z.string().max(63) })
  .meta({ description: 'A channel of the project, by its id.' })

/** As a definition names it. `target` tells channels apart whose address is not shown. */
const definedAddress = {
  url: address.meta({ description: '`***` where a part of it is secret: the stored one of the same `target` stays.' }),
  target: z.string().max(2_048).optional().meta({ description: 'Where it leads, without what is secret of it.' }),
}
export const definedChannel = z.discriminatedUnion('type', [
  z.strictObject({
    type: z.literal('webhook'),
    ...definedAddress,
    secret: z.string().max(200).optional().meta({
      description: 'whsec_…, or `***` for the one that is stored. Left out, the stored one stays, or one is made.',
    }),
  }),
  z.strictObject({ type: z.literal('slack'), ...definedAddress }),
  z.strictObject({ type: z.literal('email'), to: recipients }),
  z
    .strictObject({ type: z.literal('shared'), name: displayName })
    .meta({ description: 'A channel that the project has for all its alerts, by its name.' }),
])

const keptChannel = z.strictObject({ id: z.string().max(63) }).meta({ description: 'One that is there, as it is.' })

const minutes = (most: number) => z.int().min(0).max(most)

const fields = {
  name: displayName,
  type: alertType,
  threshold: z.number().nullable().meta({
    description:
      "In the metric's own unit: a share from 0 to 1, milliseconds, a count, or minutes. Without one, data_stale fires when data is later than its schedule promises, or a model is behind its tables.",
  }),
  resolve_threshold: z
    .number()
    .nullable()
    .meta({ description: 'The value at which it resolves once it fires; the threshold unless given.' }),
  window_minutes: z.int().min(1).max(10_080).meta({ description: 'The time that is looked at.' }),
  for_minutes: minutes(1_440).meta({ description: 'How long it must have been bad before it fires.' }),
  min_requests: z.int().min(0).max(1_000_000_000).meta({ description: 'Fewer requests are too few to judge by.' }),
  remind_minutes: z.int().min(1).max(10_080).nullable().meta({ description: 'Tells again this often while it fires.' }),
  environment: z.string().max(63).nullable(),
  query: z.string().max(63).nullable(),
  enabled: z.boolean(),
}

/** Fields left out of a new one have their default. */
export const alertFields = {
  name: fields.name,
  type: fields.type,
  threshold: fields.threshold.default(null),
  resolve_threshold: fields.resolve_threshold.default(null),
  window_minutes: fields.window_minutes.default(5),
  for_minutes: fields.for_minutes.default(0),
  min_requests: fields.min_requests.default(1),
  remind_minutes: fields.remind_minutes.default(null),
  environment: fields.environment.default(null),
  query: fields.query.default(null),
  enabled: fields.enabled.default(true),
}

export const newAlert = z.strictObject({
  ...alertFields,
  channels: z
    .array(z.union([newChannel, sharedChannel]))
    .max(fixedLimits.alertChannels.value)
    .default([]),
})

export const changeAlert = z.strictObject({
  name: fields.name.optional(),
  type: fields.type.optional(),
  threshold: fields.threshold.optional(),
  resolve_threshold: fields.resolve_threshold.optional(),
  window_minutes: fields.window_minutes.optional(),
  for_minutes: fields.for_minutes.optional(),
  min_requests: fields.min_requests.optional(),
  remind_minutes: fields.remind_minutes.optional(),
  environment: fields.environment.optional(),
  query: fields.query.optional(),
  enabled: fields.enabled.optional(),
  channels: z
    .array(z.union([newChannel, sharedChannel, keptChannel]))
    .max(fixedLimits.alertChannels.value)
    .optional()
    .meta({ description: 'All channels from now on: new ones, and those that stay by their id.' }),
})

export const alertChannel = z
  .object({
    id: z.string(),
    type: z.enum(['webhook', 'email', 'slack']),
    target: z.string().meta({ description: 'Where it leads, without what is secret of it.' }),
    secret: z.string().optional().meta({ description: 'Only in the answer to the call that made it.' }),
    shared: z
      .object({ id: z.string(), name: z.string() })
      .nullable()
      .meta({ description: 'The channel of the project that it stands for; null for one that is its own.' }),
  })
  .meta({ id: 'AlertChannel' })

export const alert = z
  .object({
    id: z.string(),
    project_id: z.string(),
    ...fields,
    channels: z.array(alertChannel),
    state: z.enum(['ok', 'firing']),
    value: z.number().nullable().meta({ description: 'As last measured, in the unit of the threshold.' }),
    started_at: timestamp.nullable().meta({ description: 'Since when it fires.' }),
    silenced: z
      .object({ until: timestamp, by: z.string(), reason: z.string() })
      .nullable()
      .meta({ description: 'Until when it tells nobody, who wanted so and why.' }),
    evaluated_at: timestamp.nullable(),
    created_at: timestamp,
  })
  .meta({ id: 'Alert' })

export const alertEvent = z
  .object({
    id: z.string(),
    at: timestamp,
    kind: z.enum(['firing', 'resolved', 'reminder', 'test']),
    value: z.number().nullable(),
    threshold: z.number().nullable(),
    silenced: z.boolean().meta({ description: 'Nobody was told: the alert was silenced.' }),
  })
  .meta({ id: 'AlertEvent' })

export const alertDelivery = z
  .object({
    id: z.string().meta({ description: 'The webhook-id of the message.' }),
    event_id: z.string(),
    channel_id: z.string(),
    channel_type: z.enum(['webhook', 'email', 'slack']),
    target: z.string(),
    status: z.enum(['pending', 'delivered', 'failed']),
    attempt: z.int(),
    created_at: timestamp,
    next_attempt_at: timestamp.nullable(),
    finished_at: timestamp.nullable(),
    response_status: z.int().nullable(),
    error: z.string().nullable(),
  })
  .meta({ id: 'AlertDelivery' })

export const rotateAlertSecret = z.strictObject({
  grace_seconds: z
    .int()
    .min(0)
    .max(2_592_000)
    .default(86_400)
    .meta({ description: 'How long messages are signed with the old secret too.' }),
})

export const silenceAlert = z
  .strictObject({
    minutes: z.int().min(1).max(43_200).optional().meta({ description: 'How long, from now; at most 30 days.' }),
    until: timestamp.optional().meta({ description: 'Instead of `minutes`: until when.' }),
    reason: z.string().trim().max(500).default('').meta({ description: 'Why, for those who wonder.' }),
  })
  .meta({ oneOf: [{ required: ['minutes'] }, { required: ['until'] }] })

const { enabled: _enabled, name: _name, ...ruleFields } = alertFields
export const alertPreviewInput = z.strictObject({
  ...ruleFields,
  days: z.int().min(1).max(30).default(7).meta({ description: 'How far back it is tried.' }),
})

export const alertPreview = z
  .object({
    from: timestamp,
    to: timestamp,
    known_from: timestamp.meta({
      description:
        'Since when what it looks at is kept: later than `from` where a part of it is gone. Judged from then on.',
    }),
    judged_minutes: z.int().meta({
      description: 'How many minutes had enough to be judged by; 0 where there was nothing to look at.',
    }),
    fired: z.int().meta({ description: 'How often it would have fired.' }),
    firings: z
      .array(
        z.object({
          started_at: timestamp,
          ended_at: timestamp.nullable().meta({ description: 'Null: it would fire now.' }),
          worst: z.number().meta({ description: 'The worst value meanwhile.' }),
        }),
      )
      .meta({ description: 'The newest first, at most 50.' }),
    value: z.number().nullable().meta({ description: 'As it would be measured now.' }),
  })
  .meta({ id: 'AlertPreview' })

export const newNotificationChannel = z.strictObject({ name: displayName, channel: newChannel })
export const changeNotificationChannel = z.strictObject({
  name: displayName.optional(),
  channel: newChannel.optional().meta({ description: 'Where it leads from now on, for every alert that uses it.' }),
})

export const notificationChannel = z
  .object({
    id: z.string(),
    name: z.string(),
    type: z.enum(['webhook', 'email', 'slack']),
    target: z.string().meta({ description: 'Where it leads, without what is secret of it.' }),
    secret: z.string().optional().meta({ description: 'Only in the answer to the call that made it.' }),
    alerts: z.array(z.object({ id: z.string(), name: z.string() })).meta({ description: 'Those that use it.' }),
    tested_at: timestamp.nullable(),
    test_error: z.string().nullable().meta({ description: 'Why the last test did not arrive; null where it did.' }),
    created_at: timestamp,
    created_by: z.string(),
  })
  .meta({ id: 'NotificationChannel' })

export const alertTest = z.object({ delivery_ids: z.array(z.string()) })
