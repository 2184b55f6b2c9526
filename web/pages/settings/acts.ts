import { aRole, asRole } from '../../parts/form/roles.tsx'
import type { AuditEntry, Member } from '../../client/wire.ts'

type Names = {
  /** The name of a person, by their id. */
  person: (userId: string) => string
  /** The thing itself by its name, after what it is; another word where the log has no name of it. */
  named: (kind: string, otherwise: string) => string
}

type Describe = (entry: AuditEntry, names: Names) => string

const text = (value: unknown): string => (typeof value === 'string' ? value : '')
const count = (value: unknown): string => (typeof value === 'number' ? value.toLocaleString('en') : '')
const rows = (value: unknown): string => `${count(value)} ${value === 1 ? 'row' : 'rows'}`
const listed = (value: unknown): string =>
  Array.isArray(value) ? value.filter((each) => typeof each === 'string').join(', ') : ''
const ofWhom = (email: unknown): string => (text(email) === '' ? '' : `of ${text(email)}`)
const role = (value: unknown): string => {
  const known = asRole(text(value))
  return known === undefined ? text(value) : aRole(known)
}

const sentences: Record<string, Describe> = {
  'project.created': ({ details }) => `created the project as ${text(details['name'])}`,
  'project.renamed': ({ details }) => `renamed the project to ${text(details['name'])}`,
  'project.engine_changed': ({ details }) =>
    `moved the project from ${text(details['from'])} to ${text(details['to'])}`,
  'project.deleted': () => 'deleted the project',
  'environment.added': ({ target }) => `added the environment ${target}`,
  'environment.deleted': ({ target }) => `deleted the environment ${target}`,
  'reference.shared': ({ target }) => `shared the reference of ${target} by a link`,
  'reference.unshared': ({ target }) => `ended the link to the reference of ${target}`,
  'member.changed': ({ target, details }, { person }) => `made ${person(target)} ${role(details['to'])}`,
  'member.removed': ({ target, actor }, { person }) =>
    actor.id === target ? 'left the project' : `removed ${person(target)}`,
  'invitation.created': ({ details }) =>
    `invited ${text(details['email']) || 'someone'} by link as ${role(details['role'])}`,
  'invitation.withdrawn': ({ details }) => `withdrew the invitation ${ofWhom(details['email'])}`.trimEnd(),
  'invitation.accepted': ({ details }) => `joined as ${role(details['role'])}`,
  'management_token.created': ({ details }) =>
    `made the management token ${text(details['name'])}, which acts as ${role(details['role'])}`,
  'management_token.revoked': (_, { named }) => `revoked ${named('the management token', 'a management token')}`,
  'datasource.created': ({ details }) => `made the connection ${text(details['name'])}`,
  'datasource.updated': ({ details }, { named }) =>
    `changed ${listed(details['changed']) || 'something'} of ${named('the connection', 'a connection')}`,
  'datasource.deleted': ({ details }, { named }) =>
    `deleted ${named('the connection', 'a connection')} and its table ${text(details['table_name'])}`,
  'datasource.refreshed': ({ details }, { named }) =>
    `fetched ${named('', 'a table')}, version ${count(details['version'])}: ${details['unchanged'] === true ? 'nothing new' : rows(details['row_count'] ?? details['rowCount'])}`,
  'datasource.version_held': ({ details }, { named }) =>
    `fetched ${named('', 'a table')}, version ${count(details['version'])}, which waits: ${text(details['reason']).replaceAll('_', ' ')}`,
  'datasource.refresh_queued': (_, { named }) => `asked for ${named('', 'a table')} to be fetched again`,
  'datasource.schema_changed': (_, { named }) => `changed the rules of ${named('', 'a table')}`,
  'datasource.connected': (_, { named }) => `connected ${named('', 'a connection')} to its provider`,
  'datasource.disconnected': (_, { named }) => `disconnected ${named('', 'a connection')} from its provider`,
  'data_version.activated': ({ details }, { named }) =>
    `made version ${count(details['version'])} of ${named('', 'a table')} serve`,
  'variable.created': ({ details }) => `keeps ${text(details['name'])} for requests to name`,
  'variable.updated': ({ details }) => `changed what ${text(details['name'])} stands for in requests`,
  'variable.deleted': ({ details }) => `deleted ${text(details['name'])}, which requests could name`,
  'api.created': ({ details }) => `made the API ${text(details['name'])}`,
  'api.updated': ({ details }) =>
    `changed ${listed(details['changed']) || 'something'} of the API ${text(details['name'])}`,
  'api.deleted': ({ details }) => `deleted the API ${text(details['name'])}`,
  'data_object.deleted': ({ details }) =>
    `deleted version ${count(details['version'])} of the table ${text(details['table_name'])}`,
  'query.created': ({ target }) => `made the query ${target}`,
  'query.changed': ({ target }) => `changed the draft of ${target}`,
  'query.renamed': ({ target, details }) => `gave the query ${text(details['from'])} the name ${target}`,
  'query.tagged': ({ target }) => `sorted the query ${target} by tags`,
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
    `runs ${count(details['query_count'])} queries alongside those in ${text(details['environment'])}`,
  'release.stepped': ({ details }) =>
    `gave a release to ${count(details['percent'])} % of the keys in ${text(details['environment'])}`,
  'release.rolled_back': ({ details }) =>
    `rolled back a trial release in ${text(details['environment'])}: ${text(details['because'])}`,
  'replay.settings_changed': ({ details }) =>
    details['recording'] === true ? 'has calls recorded for replay' : 'stopped recording calls, and deleted them',
  'definition.applied': () => 'applied a definition of the project',
  'environments.ordered': () => 'changed the order of the environments',
  'query.deleted': ({ target }) => `deleted the query ${target}`,
  'api_key.created': ({ details }) => `made the API key ${text(details['name'])}`,
  'api_key.updated': (_, { named }) => `changed ${named('the API key', 'an API key')}`,
  'api_key.rotated': (_, { named }) => `gave ${named('the API key', 'an API key')} a new secret`,
  'api_key.renewed': (_, { named }) => `renewed ${named('the API key', 'an API key')}`,
  'api_key.disabled': (_, { named }) => `disabled ${named('the API key', 'an API key')}`,
  'api_key.enabled': (_, { named }) => `enabled ${named('the API key', 'an API key')}`,
  'api_key.revoked': (_, { named }) => `revoked ${named('the API key', 'an API key')}`,
  'alert.created': ({ details }) => `made the alert ${text(details['name'])}`,
  'alert.updated': (_, { named }) => `changed ${named('the alert', 'an alert')}`,
  'alert.deleted': ({ details }) => `deleted the alert ${text(details['name'])}`,
  'alert.tested': (_, { named }) => `sent a test of ${named('the alert', 'an alert')}`,
  'alert.secret_rotated': (_, { named }) => `gave a webhook of ${named('the alert', 'an alert')} a new secret`,
  'alert.silenced': ({ details }, { named }) =>
    `silenced ${named('the alert', 'an alert')}${text(details['reason']) === '' ? '' : `: ${text(details['reason'])}`}`,
  'alert.unsilenced': (_, { named }) => `ended the silence of ${named('the alert', 'an alert')}`,
  'alert_channel.created': ({ details }) => `made the channel ${text(details['name'])} for alerts`,
  'alert_channel.updated': (_, { named }) => `changed ${named('the channel', 'a channel')} of alerts`,
  'alert_channel.deleted': ({ details }) => `deleted the channel ${text(details['name'])} of alerts`,
  'alert_channel.tested': (_, { named }) => `sent a test through ${named('the channel', 'a channel')}`,
  'alert_channel.secret_rotated': (_, { named }) => `gave ${named('the channel', 'a channel')} a new secret`,
  'job.cancelled': ({ target }) => `cancelled the job ${target}`,
  'job.retried': ({ target }) => `started the job ${target} again`,
  'question.reported': () => 'reported a wrong answer',
  'question.report_confirmed': () => 'confirmed a report of a wrong answer, which the router heeds from then on',
  'question.report_deleted': () => 'removed a report of a wrong answer',
  'evaluation.deleted': () => 'removed an evaluation case',
  'questions.settings_changed': () => 'changed how long questions are kept',
}

/**
 * An act as the end of a sentence that begins with who did it. Acts without one of their own say their name. `log` is
 * what else is known: an entry may tell what a thing is called that another only knows by its id.
 */
export function describeAct(entry: AuditEntry, members: Member[], log: AuditEntry[] = []): string {
  const known = [entry, ...log.filter(({ target }) => target === entry.target)]
  const name = known.map(({ details }) => text(details['name'])).find((each) => each !== '')
  const names: Names = {
    person: (userId) => members.find((member) => member.user_id === userId)?.name ?? userId,
    named: (kind, otherwise) => (name === undefined ? otherwise : `${kind} ${name}`.trim()),
  }
  const describe = sentences[entry.action]
  return describe === undefined
    ? `${entry.action.replaceAll(/[._]/g, ' ')}: ${name ?? entry.target}`
    : describe(entry, names)
}
