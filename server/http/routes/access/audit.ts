import { Readable } from 'node:stream'
import { z } from 'zod'
import { csvRecord, spreadsheetCell } from '../../../../api/csv.ts'
import { pageQuery } from '../../../../api/envelope.ts'
import { auditChoices, auditEntry, auditFilter } from '../../../../api/people.ts'
import * as access from '../../../access/index.ts'
import type { App } from '../../../app.ts'
import type { Http } from '../../request/http.ts'
import { toWire } from '../../../../api/wire-codec.ts'
import { one, operations, page, sent } from '../operations.ts'

const description = 'With project_id for owners of that project; without it for administrators.'

export function serveAudit(http: Http, app: App): void {
  const { get } = operations(http, app, 'access')
  get(
    '/v1/audit',
    {
      summary: 'Who did what, newest first',
      description,
      query: z.strictObject({ ...pageQuery, ...auditFilter }),
      answer: page(auditEntry, wireEntry),
    },
    access.listAudit,
  )
  get(
    '/v1/audit/choices',
    {
      summary: 'Who and what is in the audit log, to choose from',
      description,
      query: z.strictObject({ project_id: z.string().optional() }),
      answer: one(auditChoices, ({ actors, actions }: Awaited<ReturnType<typeof access.auditChoices>>) => ({
        actors: actors.map(({ actorKind: kind, actorId: id, actorLabel: label }) => ({ kind, id, label })),
        actions,
      })),
    },
    access.auditChoices,
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
  operations(http, app, 'access').get(
    '/v1/audit/export',
    {
      summary: 'The audit log as a file, newest first',
      description: `${description} At most \`audit_export_rows\` of GET /v1/limits.`,
      query: z.strictObject({ ...auditFilter, format: z.enum(['csv', 'ndjson']).default('csv') }),
      answer: sent({
        description: 'The file.',
        content: { 'text/csv': { schema: z.string() }, 'application/x-ndjson': { schema: z.string() } },
      }),
    },
    async (app, caller, { format, ...input }, { reply }) => {
      const pages = await access.exportAudit(app, caller, input)
      const type = format === 'csv' ? 'text/csv; charset=utf-8' : 'application/x-ndjson; charset=utf-8'
      void reply.header('content-disposition', `attachment; filename="audit.${format}"`)
      return reply.type(type).send(Readable.from(format === 'csv' ? csvTexts(pages) : jsonTexts(pages)))
    },
  )
}

async function* csvTexts(pages: AsyncIterable<access.AuditEntry[]>): AsyncGenerator<string> {
  yield csvRecord(columns)
  for await (const page of pages) {
    const lines = page.map((entry) => {
      const { id, at, actor, project_id: project, action, target, details, request_id: request } = wireEntry(entry)
      const { kind, id: actorId, label } = actor
      const values = [id, at, kind, actorId, label, project, action, target, JSON.stringify(details), request]
      return csvRecord(values.map(spreadsheetCell))
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
