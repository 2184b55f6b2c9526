import { Readable } from 'node:stream'
import { z } from 'zod'
import { pageOf, pageQuery } from '../../../../api/envelope.ts'
import { auditChoices, auditEntry, auditFilter } from '../../../../api/people.ts'
import * as access from '../../../access/index.ts'
import type { App } from '../../../app.ts'
import { refusals } from '../../answer/answers.ts'
import { callerOf } from '../../request/caller.ts'
import { csvRecord } from '../../csv.ts'
import type { Http } from '../../request/http.ts'
import { toWire } from '../../../../api/wire-codec.ts'

const tags = ['access']
const description = 'With project_id for owners of that project; without it for administrators.'

export function serveAudit(http: Http, app: App): void {
  http.get(
    '/v1/audit',
    {
      schema: {
        tags,
        summary: 'Who did what, newest first',
        description,
        querystring: z.strictObject({ ...pageQuery, ...auditFilter }),
        response: { 200: pageOf(auditEntry), ...refusals },
      },
    },
    async (request) => {
      const { project_id: projectId, ...input } = request.query
      const found = await access.listAudit(app, callerOf(request), { projectId, ...input })
      return { data: found.items.map(wireEntry), next_cursor: found.nextCursor }
    },
  )

  http.get(
    '/v1/audit/choices',
    {
      schema: {
        tags,
        summary: 'Who and what is in the audit log, to choose from',
        description,
        querystring: z.strictObject({ project_id: z.string().optional() }),
        response: { 200: auditChoices, ...refusals },
      },
    },
    async (request) => {
      const input = { projectId: request.query.project_id }
      const { actors, actions } = await access.auditChoices(app, callerOf(request), input)
      return {
        actors: actors.map(({ actorKind: kind, actorId: id, actorLabel: label }) => ({ kind, id, label })),
        actions,
      }
    },
  )
}

const columns = [
  'id',
  'at',
  'actor_kind',
  'actor_id',
  'actor',
  'project_id',
  'action',
  'target',
  'details',
  'request_id',
]

/** The same as a file, as long as it may be. */
export function serveAuditExport(http: Http, app: App): void {
  http.get(
    '/v1/audit/export',
    {
      schema: {
        tags,
        summary: 'The audit log as a file, newest first',
        description: `${description} At most \`audit_export_rows\` of GET /v1/limits.`,
        querystring: z.strictObject({ ...auditFilter, format: z.enum(['csv', 'ndjson']).default('csv') }),
        response: {
          200: {
            description: 'The file.',
            content: { 'text/csv': { schema: z.string() }, 'application/x-ndjson': { schema: z.string() } },
          },
          ...refusals,
        },
      },
    },
    async (request, reply) => {
      const { project_id: projectId, format, ...input } = request.query
      const pages = await access.exportAudit(app, callerOf(request), { projectId, ...input })
      const type = format === 'csv' ? 'text/csv; charset=utf-8' : 'application/x-ndjson; charset=utf-8'
      void reply.header('content-disposition', `attachment; filename="audit.${format}"`)
      return reply.type(type).send(Readable.from(format === 'csv' ? csvTexts(pages) : jsonTexts(pages)) as never)
    },
  )
}

async function* csvTexts(pages: AsyncIterable<access.AuditEntry[]>): AsyncGenerator<string> {
  yield csvRecord(columns)
  for await (const page of pages) {
    const lines = page.map((entry) => {
      const { id, at, actor, project_id: project, action, target, details, request_id: request } = wireEntry(entry)
      const { kind, id: actorId, label } = actor
      return csvRecord([id, at, kind, actorId, label, project, action, target, JSON.stringify(details), request])
    })
    yield lines.join('')
  }
}

async function* jsonTexts(pages: AsyncIterable<access.AuditEntry[]>): AsyncGenerator<string> {
  for await (const page of pages) yield page.map((entry) => `${JSON.stringify(wireEntry(entry))}\n`).join('')
}

function wireEntry(entry: access.AuditEntry): z.output<typeof auditEntry> {
  const actor = { kind: entry.actorKind, id: entry.actorId, label: entry.actorLabel }
  return toWire(auditEntry, { ...entry, actor })
}
