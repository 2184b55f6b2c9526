import { z } from 'zod'
import { displayName, timestamp } from './envelope.ts'
import { fixedLimits } from './limits.ts'

export const role = z.enum(['owner', 'editor', 'viewer']).meta({
  description:
    'viewer reads; editor also builds and deploys; owner also manages members, keys, tokens and the project itself.',
})

export const email = z
  .string()
  .trim()
  .toLowerCase()
  .max(254)
  .meta({ format: 'email', pattern: z.regexes.email.source })
  .pipe(z.email('must be an e-mail address'))
export const newPassword = z.string().min(10, 'must have at least 10 characters').max(fixedLimits.passwordChars.value)
const linkSecret = z.string().min(1).max(200)

export const user = z
  .object({
    id: z.string(),
    name: z.string(),
    email: z.string().nullable().meta({ description: 'Null until the first user has given one.' }),
    administrator: z.boolean(),
    has_password: z.boolean(),
    created_at: timestamp,
  })
  .meta({ id: 'User' })

export const signIn = z.strictObject({ email, password: z.string().min(1).max(fixedLimits.passwordChars.value) })
export const signInByLink = z.strictObject({ token: linkSecret })
export const updateSelf = z.strictObject({
  name: displayName.optional(),
  email: email.optional(),
  password: newPassword.optional(),
  current_password: z
    .string()
    .max(200)
    .optional()
    .meta({ description: 'Needed to change e-mail or password once a password is set.' }),
})

export const member = z
  .object({ user_id: z.string(), name: z.string(), email: z.string().nullable(), role, created_at: timestamp })
  .meta({ id: 'Member' })
export const changeMember = z.strictObject({ role })

export const newInvitation = z.strictObject({ role, email: email.optional() })
export const invitation = z
  .object({ id: z.string(), role, email: z.string().nullable(), created_at: timestamp, expires_at: timestamp })
  .meta({ id: 'Invitation' })
export const createdInvitation = invitation
  .extend({
    link: z.url().meta({
      description: 'Shown once. Whoever opens it joins the project; with `email`, only who has that address.',
    }),
  })
  .meta({ id: 'CreatedInvitation' })
export const invitationPreview = z.object({ project_name: z.string(), role, email: z.string().nullable() })
export const acceptInvitation = z.strictObject({
  token: linkSecret,
  name: displayName.optional(),
  email: email.optional(),
  password: newPassword.optional(),
})

export const newManagementToken = z.strictObject({
  name: displayName,
  role,
  project_id: z
    .string()
    .optional()
    .meta({ description: 'One project only. Left out: every project its maker reaches, now and later.' }),
  expires_at: timestamp.optional(),
})
export const managementToken = z
  .object({
    id: z.string(),
    name: z.string(),
    role,
    project_id: z.string().nullable(),
    start: z.string(),
    last4: z.string(),
    status: z.enum(['active', 'expired', 'revoked']),
    created_by: z.string().nullable(),
    created_at: timestamp,
    expires_at: timestamp.nullable(),
    last_used_at: timestamp.nullable(),
  })
  .meta({ id: 'ManagementToken' })
export const createdManagementToken = managementToken
  .extend({ secret: z.string().meta({ description: 'Shown once.' }) })
  .meta({ id: 'CreatedManagementToken' })

const moment = z.iso
  .datetime({ offset: true, error: 'must be a moment such as 2026-01-31T08:00:00Z' })
  .transform((text) => new Date(text))
  .optional()

export const auditFilter = {
  project_id: z.string().optional(),
  actor: z.string().max(100).optional().meta({
    description: 'Who: the id of a person or of a management token, or `operator` or `system`.',
  }),
  action: z.string().max(100).optional().meta({ description: 'What: `alert.created`, or `alert` for all of it.' }),
  target: z.string().max(200).optional().meta({ description: 'To what: a part of its id or name.' }),
  from: moment,
  to: moment,
}

export const auditChoices = z
  .object({
    actors: z.array(
      z.object({
        kind: z.enum(['user', 'token', 'operator', 'system']),
        id: z.string().nullable(),
        label: z.string(),
      }),
    ),
    actions: z.array(z.string()),
  })
  .meta({ id: 'AuditChoices' })

export const auditEntry = z
  .object({
    id: z.string(),
    at: timestamp,
    actor: z.object({
      kind: z.enum(['user', 'token', 'operator', 'system']),
      id: z.string().nullable(),
      label: z.string(),
    }),
    project_id: z.string().nullable(),
    action: z.string(),
    target: z.string(),
    details: z.record(z.string(), z.unknown()),
    request_id: z.string().nullable(),
  })
  .meta({ id: 'AuditEntry' })
