import { writeFile } from 'node:fs/promises'
import type { App } from '../../server/app.ts'
import { dataChanged } from '../../server/data/index.ts'
import { newId } from '../../server/ids.ts'

type Parts = Pick<App, 'store' | 'files' | 'builder' | 'catalogs'>

/**
 * Makes `rows` the newest version of a table of the project, the way a fetched API answer becomes one: a Parquet file,
 * then the rows that name it and the word to every process, in one transaction.
 */
export async function putTable(
  app: Parts,
  projectId: string,
  { name, rows, native = false }: { name: string; rows: Iterable<object>; native?: boolean },
): Promise<void> {
  const source = app.files.temporaryPath('ndjson')
  await writeFile(source, linesOf(rows))
  const parquetPath = app.files.temporaryPath('parquet')
  const input = { source: { kind: 'ndjson' as const, path: source }, parquetPath, contract: null }
  const { rowCount, columns } = await app.builder.convert(projectId, input)
  await putParquet(app, projectId, { name, native, parquetPath, rowCount, columns })
}

type ParquetTable = {
  name: string
  native: boolean
  /** It is moved. */
  parquetPath: string
  rowCount: number
  columns: Array<{ name: string; type: string; sourceKey: string }>
}

/** The same of rows that are a Parquet file already. */
export async function putParquet(app: Parts, projectId: string, table: ParquetTable): Promise<void> {
  const { name, native, parquetPath, rowCount, columns } = table
  const kept = await app.files.keep(parquetPath, 'parquet')
  const nativePath = app.files.temporaryPath('duckdb')
  if (native) await app.builder.buildNative({ rows: { hash: kept.hash, format: 'parquet' }, nativePath })
  const copy = native ? await app.files.keep(nativePath, 'duckdb') : null
  await app.store.db.transaction().execute(async (transaction) => {
    const known = await transaction
      .selectFrom('datasources')
      .select('id')
      .where('projectId', '=', projectId)
      .where('tableName', '=', name)
      .executeTakeFirst()
    const datasource = known?.id ?? newId('datasource')
    if (known === undefined) {
      await transaction
        .insertInto('datasources')
        .values({ id: datasource, projectId, name, kind: 'http_api', tableName: name })
        .execute()
    }
    const { last } = await transaction
      .selectFrom('dataObjects')
      .select((select) => select.fn.max('version').as('last'))
      .where('datasourceId', '=', datasource)
      .executeTakeFirstOrThrow()
    const shared = { projectId, datasourceId: datasource, version: (last ?? 0) + 1 }
    await transaction.updateTable('dataObjects').set({ isLive: false }).where('datasourceId', '=', datasource).execute()
    const [id, part] = [newId('dataObject'), newId('dataPart')]
    await transaction
      .insertInto('dataObjects')
      .values({
        ...shared,
        id,
        kind: 'response_data',
        format: 'parquet',
        fileHash: kept.hash,
        sizeBytes: 0,
        rowCount,
        columns: JSON.stringify(columns),
        isLive: true,
        activatedAt: new Date(),
      })
      .execute()
    await transaction
      .insertInto('dataParts')
      .values({
        id: part,
        projectId,
        datasourceId: datasource,
        fileHash: kept.hash,
        sizeBytes: kept.sizeBytes,
        rowCount,
        columns: JSON.stringify(columns),
        loads: [shared.version],
        nativeHash: copy?.hash ?? null,
        nativeBytes: copy?.sizeBytes ?? null,
      })
      .execute()
    await transaction.insertInto('versionParts').values({ dataObjectId: id, place: 0, partId: part }).execute()
    await app.store.notify(transaction, dataChanged, projectId)
  })
  await heard(app, projectId, kept.hash)
}

function* linesOf(rows: Iterable<object>): Generator<string> {
  let lines = ''
  for (const row of rows) {
    lines += `${JSON.stringify(row)}\n`
    if (lines.length < 65_536) continue
    yield lines
    lines = ''
  }
  yield lines
}

/** A notification arrives shortly after the transaction; a test goes on when this process has heard it. */
async function heard(app: Parts, projectId: string, hash: string): Promise<void> {
  const deadlineMs = performance.now() + 60_000
  for (;;) {
    const { tables } = await app.catalogs.get(projectId)
    if (tables.some((table) => table.rows.hash === hash)) return
    if (performance.now() > deadlineMs) throw new Error('the new table was not heard of in time')
    await new Promise((resolve) => {
      setImmediate(resolve)
    })
  }
}

const regions = ['north', 'south', 'east'] as const

/** Orders with ids 1 to `count`, regions in turn. */
export function orders(count: number): object[] {
  return Array.from({ length: count }, (_, index) => ({
    id: index + 1,
    region: regions[index % 3],
    amount: (index + 1) * 1.5,
    day: `2024-01-${String(1 + (index % 28)).padStart(2, '0')}`,
    paid: index % 2 === 0,
  }))
}
