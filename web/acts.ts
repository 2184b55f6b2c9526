import { aRole, asRole } from './parts/roles.tsx'
import type { AuditEntry, Member } from './wire.ts'

type Describe = (entry: AuditEntry, nameOf: (userId: string) => string) => string

const text = (value: unknown): string => (typeof value === 'string' ? value : '')
const role = (value: unknown): string => {
  const known = asRole(text(value))
  return known === undefined ? text(value) : aRole(known)
}

const sentences: Record<string, Describe> = {
  'project.created': ({ details }) => `created the project as ${text(details['name'])}`,
  'project.renamed': ({ details }) => `renamed the project to ${text(details['name'])}`,
  'project.deleted': () => 'deleted the project',
  'environment.added': ({ target }) => `added the environment ${target}`,
  'environment.deleted': ({ target }) => `deleted the environment ${target}`,
  'member.changed': ({ target, details }, nameOf) => `made ${nameOf(target)} ${role(details['to'])}`,
  'member.removed': ({ target, actor }, nameOf) =>
    actor.id === target ? 'left the project' : `removed ${nameOf(target)}`,
  'invitation.created': ({ details }) =>
    `invited ${text(details['email']) || 'someone'} by link as ${role(details['role'])}`,
  'invitation.withdrawn': () => 'withdrew an invitation',
  'invitation.accepted': ({ details }) => `joined as ${role(details['role'])}`,
  'management_token.created': ({ details }) =>
    `made the management token ${text(details['name'])}, which acts as ${role(details['role'])}`,
  'management_token.revoked': () => 'revoked a management token',
}

/** An act as the end of a sentence that begins with who did it. Acts without one of their own say their name. */
export function describeAct(entry: AuditEntry, members: Member[]): string {
  const nameOf = (userId: string): string => members.find((member) => member.user_id === userId)?.name ?? userId
  const describe = sentences[entry.action]
  return describe === undefined ? `${entry.action.replaceAll(/[._]/g, ' ')}: ${entry.target}` : describe(entry, nameOf)
}
