import { aRole, asRole } from './parts/roles.tsx'
import type { AuditEntry, Member } from './wire.ts'

type Describe = (entry: AuditEntry, nameOf: (userId: string) => string) => string

const text = (value: unknown): string => (typeof value === 'string' ? value : '')
const count = (value: unknown): string => (typeof value === 'number' ? value.toLocaleString('en') : '')
const rows = (value: unknown): string => `${count(value)} ${value === 1 ? 'row' : 'rows'}`
const listed = (value: unknown): string =>
  Array.isArray(value) ? value.filter((each) => typeof each === 'string').join(', ') : ''
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
  'reference.shared': ({ target }) => `shared the reference of ${target} by a link`,
  'reference.unshared': ({ target }) => `ended the link to the reference of ${target}`,
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
  'datasource.created': ({ details }) => `made the connection ${text(details['name'])}`,
  'datasource.updated': ({ details }) => `changed ${listed(details['changed']) || 'something'} of a connection`,
  'datasource.deleted': ({ details }) => `deleted a connection and its table ${text(details['table_name'])}`,
  'datasource.refreshed': ({ details }) =>
    `fetched version ${count(details['version'])} of a table: ${rows(details['row_count'])}`,
  'datasource.refresh_queued': () => 'asked for a table to be fetched again',
  'variable.created': ({ details }) => `keeps ${text(details['name'])} for requests to name`,
  'variable.updated': ({ details }) => `changed what ${text(details['name'])} stands for in requests`,
  'variable.deleted': ({ details }) => `deleted ${text(details['name'])}, which requests could name`,
  'data_object.deleted': () => 'deleted a version of a table',
  'query.created': ({ target }) => `made the query ${target}`,
  'query.changed': ({ target }) => `changed the draft of ${target}`,
  'query.deployed': ({ target, details }) =>
    `deployed ${target} version ${count(details['version'])} to ${text(details['environment'])}`,
  'query.promoted': ({ target, details }) =>
    `promoted ${target} version ${count(details['version'])} to ${text(details['environment'])}`,
  'query.rolled_back': ({ target, details }) =>
    `rolled ${target} back to version ${count(details['version'])} in ${text(details['environment'])}`,
  'query.undeployed': ({ target, details }) => `undeployed ${target} from ${text(details['environment'])}`,
  'release.made': ({ details }) =>
    `${details['act'] === 'rollback' ? 'rolled back' : details['act'] === 'promote' ? 'promoted' : 'released'} ${count(details['query_count'])} queries ${details['act'] === 'rollback' ? 'in' : 'to'} ${text(details['environment'])}`,
  'release.canary_started': ({ details }) =>
    `gave ${count(details['query_count'])} queries to ${count(details['percent'])} % of the keys in ${text(details['environment'])}`,
  'release.shadow_started': ({ details }) =>
    `runs ${count(details['query_count'])} queries behind those in ${text(details['environment'])}`,
  'release.stepped': ({ details }) =>
    `gave a release to ${count(details['percent'])} % of the keys in ${text(details['environment'])}`,
  'release.rolled_back': ({ details }) =>
    `took back a release that was tried out in ${text(details['environment'])}: ${text(details['because'])}`,
  'replay.settings_changed': ({ details }) =>
    details['recording'] === true ? 'has calls recorded for replay' : 'stopped recording calls, and deleted them',
  'definition.applied': () => 'applied a definition of the project',
  'environments.ordered': () => 'changed the order of the environments',
  'query.deleted': ({ target }) => `deleted the query ${target}`,
  'api_key.created': ({ details }) => `made the API key ${text(details['name'])}`,
  'api_key.updated': ({ details }) => `changed the API key ${text(details['name'])}`.trimEnd(),
  'api_key.rotated': () => 'gave an API key a new secret',
  'api_key.disabled': () => 'disabled an API key',
  'api_key.enabled': () => 'enabled an API key',
  'api_key.revoked': () => 'revoked an API key',
  'alert.created': ({ details }) => `made the alert ${text(details['name'])}`,
  'alert.updated': ({ details }) => `changed the alert ${text(details['name'])}`.trimEnd(),
  'alert.deleted': ({ details }) => `deleted the alert ${text(details['name'])}`,
  'alert.tested': () => 'sent a test of an alert',
  'alert.secret_rotated': () => 'gave a webhook a new secret',
  'job.cancelled': () => 'cancelled a job',
  'job.retried': () => 'started a job again',
  'question.reported': () => 'reported a wrong answer',
  'question.report_confirmed': () => 'confirmed a report of a wrong answer, which the router heeds from then on',
  'question.report_deleted': () => 'removed a report of a wrong answer',
  'evaluation.deleted': () => 'removed an evaluation case',
  'questions.settings_changed': () => 'changed how long questions are kept',
}

/** An act as the end of a sentence that begins with who did it. Acts without one of their own say their name. */
export function describeAct(entry: AuditEntry, members: Member[]): string {
  const nameOf = (userId: string): string => members.find((member) => member.user_id === userId)?.name ?? userId
  const describe = sentences[entry.action]
  return describe === undefined ? `${entry.action.replaceAll(/[._]/g, ' ')}: ${entry.target}` : describe(entry, nameOf)
}
