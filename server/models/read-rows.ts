import type { Config } from '../config.ts'
import type { Catalog, QueryEngine } from '../engine/index.ts'

/** Reads some rows of tables. */
export type RowsRead = (sql: string) => Promise<Array<Record<string, unknown>>>

/** Reads where no caller waits for a place. */
export function rowReader(
  app: { engine: QueryEngine; config: Pick<Config, 'limits'> },
  { catalog, signal }: { catalog: Catalog; signal: AbortSignal | undefined },
): RowsRead {
  return async (sql) => {
    const { chunks, finished } = await app.engine.streamBehind(`models of ${catalog.projectId}`, catalog, {
      dialect: 'duckdb',
      sql,
      slots: [],
      format: 'ndjson',
      maxRows: 1_000,
      maxBytes: 8_388_608,
      timeoutMs: app.config.limits.executeTimeoutMs,
      ...(signal && { signal }),
    })
    const parts: Buffer[] = []
    for await (const { bytes } of chunks) parts.push(bytes)
    await finished
    const lines = Buffer.concat(parts).toString().split('\n').filter(Boolean)
    return lines.map((line) => JSON.parse(line) as Record<string, unknown>)
  }
}

const maxShownBytes = 16_384

/** A statement of some rows without those that are too long to show: a cell may hold what an API answers in megabytes. */
export function shortRows(sql: string): string {
  const name = quotedName('rows that are shown')
  return `SELECT ${name}.* FROM (${sql}) AS ${name} WHERE strlen(CAST(to_json(${name}) AS VARCHAR)) <= ${maxShownBytes}`
}

export function quotedName(name: string): string {
  return `"${name.replaceAll('"', '""')}"`
}
