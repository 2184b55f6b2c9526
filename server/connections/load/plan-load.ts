import { createHash } from 'node:crypto'
import { readFile, writeFile } from 'node:fs/promises'
import { isDeepStrictEqual } from 'node:util'
import type { Vault } from '../../access/index.ts'
import { liveDataVersion, type FetchedVersion, type LiveData, type PartedVersion } from '../../data/index.ts'
import { type Files } from '../../files/index.ts'
import { widerType } from '../../rows/index.ts'
import type { CursorValue, Database, LoadRule, Validators } from '../../store/index.ts'
import { startOf } from '../request/last-value.ts'
import type { RowOrigin } from '../fetch/row-origin.ts'
import { maskConfiguration } from '../secrets/mask.ts'
import { noRules, readRules, reshapeOf, type TableRules } from '../sources/table-rules.ts'

/** The plan of a load, decided before anything is fetched. */
export type LoadPlan = {
  request: FetchedVersion['request']
  tableName: string
  rules: TableRules
  load: LoadRule
  live: LiveData | null
  /** The version that what is fetched joins; null where it takes the place of everything. */
  base: (LiveData & { parted: PartedVersion }) | null
  lastValue: CursorValue | null
  /** A file that somebody sends says nothing about how far the API has been read. */
  movesCursor: boolean
  validators: Validators | null
  expectedRows: number | undefined
}

type Input = { projectId: string; datasourceId: string; from: RowOrigin; full: boolean; requestPath: string }
type App = { store: Database; files: Files; vault: Vault }

export async function planLoad({ store, files, vault }: App, input: Input): Promise<LoadPlan> {
  const { from } = input
  const known = await readRules(store.db, input.datasourceId)
  const { rules, tableName, load } = known ?? { rules: noRules, tableName: '', load: { mode: 'replace' as const } }
  const reshape = reshapeOf(rules, load)
  const keyDigest = createHash('sha256').update(vault.hashKey(input.projectId)).digest('base64url').slice(0, 8)
  // Rows that were stored as they came do not go with such that are reshaped, nor those of another key.
  const stored =
    reshape === null ? {} : { columns: { ...reshape, ...(reshape.hashed.length > 0 && { hash_key: keyDigest }) } }
  await writeFile(input.requestPath, `${JSON.stringify({ ...described(from), ...stored }, null, 2)}\n`)
  const request = await files.keep(input.requestPath, 'json')
  const live = await liveDataVersion(store, input.datasourceId)
  // A file joins whatever is there; an answer joins what the same request brought.
  const isSameForm = from.kind !== 'file' || (live !== null && (await isReshapedSo(files, live, stored)))
  // Rows that came since a version join no other, which somebody may have put in its place meanwhile.
  const isOther = from.kind === 'built' && from.joins !== live?.version
  const isSame =
    live !== null &&
    !input.full &&
    !isOther &&
    isSameForm &&
    (from.kind === 'file' || live.requestHash === request.hash)
  const base = isSame && (await canJoin(files, { live, load, rules })) ? joinable(live) : null
  // Columns that were left out or are renamed from now on come only with an answer.
  const isKept = isSame && !live.truncated && isAsDeclared(rules, live) && (load.mode === 'replace' || base !== null)
  const isBeside = from.kind === 'file' && !from.isOnlyByFile
  return {
    request: (isBeside && base !== null ? await requestOf(files, base) : null) ?? request,
    tableName,
    rules,
    load,
    live,
    base,
    lastValue: startOf(load, base?.lastValue ?? null),
    movesCursor: !isBeside,
    validators: isKept ? live.validators : null,
    expectedRows: expectedRows(live, base !== null),
  }
}

function described(from: RowOrigin): object {
  if (from.kind === 'request') return maskConfiguration(from.configuration)
  if (from.kind === 'built') return from.statement
  const { filename = null, contentType = null, extractor = null, sizeBytes, digest } = from
  return { file: filename, content_type: contentType, extractor, size_bytes: sizeBytes, sha256: digest }
}

/** Rows of a file that join those of a request leave it the request of the version, so that the next answer joins them. */
async function requestOf(files: Files, { requestHash }: LiveData): Promise<LoadPlan['request'] | null> {
  if (requestHash === null) return null
  const sizeBytes = await files.sizeOf({ hash: requestHash, format: 'json' })
  return sizeBytes === undefined ? null : { hash: requestHash, sizeBytes }
}

/** Each file is a request of its own, so that what it says of the columns is compared by itself. */
async function isReshapedSo(files: Files, { requestHash }: LiveData, stored: { columns?: object }): Promise<boolean> {
  if (requestHash === null) return stored.columns === undefined
  const lease = await files.lease({ hash: requestHash, format: 'json' })
  try {
    const { columns } = JSON.parse(await readFile(lease.path, 'utf8')) as { columns?: object }
    return isDeepStrictEqual(columns, stored.columns)
  } finally {
    lease.release()
  }
}

function joinable(live: LiveData): LoadPlan['base'] {
  return live.parted === null ? null : { ...live, parted: live.parted }
}

type Joining = { live: LiveData; load: LoadRule; rules: TableRules }

/** Rows can join those that came by the same rule, are all there, and can be read as the author wants them. */
async function canJoin(files: Files, { live, load, rules }: Joining): Promise<boolean> {
  const { parted } = live
  if (load.mode === 'replace' || parted === null || !isSameLoad(parted.load, load)) return false
  const byKey = new Map(live.columns.map((column) => [column.sourceKey ?? column.name, column]))
  const fits = rules.columns.every(({ sourceKey, type, onLoad }) => {
    const now = byKey.get(sourceKey)
    if (onLoad === 'drop' && now !== undefined) return false
    return type === undefined || now === undefined || now.untyped === true || widerType(now.type, type) === type
  })
  if (!fits) return false
  const hashes = parted.parts.map(({ fileHash }) => fileHash).concat(parted.deletions?.hash ?? [])
  for (const hash of hashes) if (!(await files.isIntact({ hash, format: 'parquet' }))) return false
  return true
}

function isSameLoad(before: LoadRule, now: LoadRule): boolean {
  const told = ({ mode, primaryKey = [], cursor }: LoadRule) =>
    JSON.stringify([mode, primaryKey, cursor?.field ?? null])
  return told(before) === told(now)
}

function isAsDeclared({ columns }: TableRules, live: LiveData): boolean {
  const byKey = new Map(live.columns.map((column) => [column.sourceKey ?? column.name, column]))
  return columns.every(({ sourceKey, name, type }) => {
    const now = byKey.get(sourceKey)
    const isNamed = name === undefined || now?.name === name
    return isNamed && (type === undefined || now?.type === type)
  })
}

/** A first load of everything says nothing about how much is new the next time. */
function expectedRows(live: LiveData | null, joins: boolean): number | undefined {
  if (live === null) return undefined
  if (!joins) return live.rowCount
  return live.newRows < live.rowCount ? live.newRows : undefined
}
