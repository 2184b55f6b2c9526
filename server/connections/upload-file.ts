import type { Readable } from 'node:stream'
import { requireRole, type Caller } from '../access/index.ts'
import { Failure } from '../failure.ts'
import { parseContentType } from '../rows/index.ts'
import { isBuilt } from './sources/refresh.ts'
import { executeAnswerOf, type ExecuteAnswer } from './execute.ts'
import { claimCall, type FirstCall } from './idempotency.ts'
import { ingest } from './load/ingest.ts'
import type { IngestApp } from './load/loading.ts'
import { refuseFullProject } from './load/stored-bytes.ts'
import { takeTurn } from './load/load-turns.ts'
import type { ReceivedFile, Uploads } from './uploads.ts'

type Upload = {
  projectId: string
  datasourceId: string
  body: Readable
  declaredBytes: number | undefined
  contentType: string | undefined
  filename: string | undefined
  /** Where in it the rows are, as the `responsePathExtractor` of a request. */
  extractor: string | undefined
  /** Takes the place of everything, whatever the mode of the table. */
  full: boolean
  idempotencyKey: string | undefined
  signal: AbortSignal | undefined
}

/** A file that somebody has becomes a version of a table, by the same rules as an answer does. */
export async function uploadFile(
  app: IngestApp & { uploads: Uploads },
  caller: Caller,
  input: Upload,
): Promise<ExecuteAnswer> {
  const { projectId, datasourceId, idempotencyKey: key } = input
  await requireRole(app, caller, projectId, 'editor')
  const contentType = fileType(input)
  const source = await app.store.db
    .selectFrom('datasources')
    .select('kind')
    .where('projectId', '=', projectId)
    .where('id', '=', datasourceId)
    .executeTakeFirst()
  if (source === undefined)
    throw new Failure('not_found', { message: `The project has no datasource ${datasourceId}.` })
  if (source.kind === 'model') throw isBuilt()
  await refuseFullProject(app.store.db, app.config.limits, projectId)
  await using file = await app.uploads.receive(input)
  if (file.sizeBytes === 0) throw noTable('The file is empty.')
  const { filename, extractor, full } = input
  const upload = { ...input, contentType, file, isOnlyByFile: source.kind === 'file' }
  // Awaited in this scope: the file is there until it is stored.
  if (key === undefined) return await store(app, caller, upload)
  const body = { datasourceId, digest: file.digest, filename, contentType, extractor, full }
  const claim = await claimCall(app, { projectId, key, body })
  if ('answer' in claim) return claim.answer as ExecuteAnswer
  await using first = claim.first
  return await store(app, caller, { ...upload, first })
}

type Storing = Omit<Upload, 'body'> & { file: ReceivedFile; isOnlyByFile: boolean; first?: FirstCall }

async function store(app: IngestApp, caller: Caller, upload: Storing): Promise<ExecuteAnswer> {
  const { projectId, datasourceId, file, filename, contentType, extractor, full, first, isOnlyByFile } = upload
  await using turn = await takeTurn(app, { projectId, datasourceId }, upload.signal)
  const { path, sizeBytes, digest } = file
  try {
    const ingested = await ingest(app, caller, {
      projectId,
      datasourceId,
      from: { kind: 'file', path, sizeBytes, digest, filename, contentType, extractor, isOnlyByFile },
      full,
      eventType: 'file',
      turn,
      after: async (transaction, stored) => first?.keep(transaction, executeAnswerOf(stored)),
    })
    return executeAnswerOf(ingested)
  } catch (error) {
    throw error instanceof Failure && error.code === 'upstream_error' ? ofFile(error) : error
  }
}

const typesByEnding: Record<string, string> = {
  csv: 'text/csv',
  tsv: 'text/tab-separated-values',
  json: 'application/json',
  geojson: 'application/json',
  ndjson: 'application/x-ndjson',
  jsonl: 'application/x-ndjson',
  xml: 'application/xml',
}

/** Types that tools send for a file whose kind they do not know, and curl for every file. */
const unsaid = /^(|application\/octet-stream|binary\/octet-stream|application\/x-www-form-urlencoded)$/

/** The Content-Type decides, and where it says nothing the name does. Packed files, Parquet and Excel show it themselves. */
function fileType({ contentType, filename = '' }: Upload): string | undefined {
  const { type } = parseContentType(contentType)
  if (type.startsWith('multipart/')) {
    throw new Failure('unsupported_media_type', {
      message:
        'Send the file itself as the body, not a form: curl --data-binary @orders.csv -H "Content-Type: text/csv".',
    })
  }
  if (!unsaid.test(type)) return contentType
  const [, ending = ''] = /\.([a-z0-9]+)(?:\.(?:gz|zst))?$/i.exec(filename) ?? []
  return typesByEnding[ending.toLowerCase()]
}

const reasons = ['not_tabular', 'type_mismatch', 'missing_field'] as const

/** Rows are read as those of answers are, and their sentences speak of an API; here it is a caller's own file. */
function ofFile(failure: Failure): Failure {
  const reason = reasons.find((each) => each === failure.reason) ?? 'not_tabular'
  const message = failure.message
    .replaceAll(/The (?:answer|response) of the external API/g, 'The file')
    .replaceAll('The external API answered with', 'The file holds')
    .replaceAll('The external API says its answer is', 'The Content-Type says that the file is')
    .replaceAll('of the external API', 'of the file')
    .replaceAll(/\b[Tt]he external API\b/g, 'The file')
    .replaceAll(/\bThe (?:answer|response)\b/g, 'The file')
    .replace(/ Try again; if it stays so, the API itself sends it incomplete\./, ' Send all of it.')
  const { details, fields } = failure
  return new Failure('invalid_request', {
    reason,
    message,
    cause: failure,
    ...(details !== undefined && { details }),
    ...(fields !== undefined && { fields }),
  })
}

function noTable(message: string): Failure {
  return new Failure('invalid_request', { reason: 'not_tabular', message })
}
