type Parsed =
  | { error: false; statements: unknown[] }
  | { error: true; error_type: string; error_message: string; position?: string }

/** A statement as the engine's own parser sees it: the slots that it names, or what is wrong and where. */
export type Statement = { slots: string[] } | { message: string; offset: number | null }

export type SqlParser = { parse(sql: string): Promise<Statement>; close(): void }

/** The engine, which the package of the service brings; nothing where the command line is installed without it. */
export async function openSqlParser(): Promise<SqlParser | undefined> {
  const engine = await import('@duckdb/node-api').catch(() => undefined)
  if (engine === undefined) return undefined
  const instance = await engine.DuckDBInstance.create(':memory:', { threads: '1' })
  const connection = await instance.connect()
  return {
    async parse(sql) {
      const result = await connection.runAndReadAll('SELECT json_serialize_sql(CAST($sql AS VARCHAR))', { sql })
      return statementOf(JSON.parse(String(result.getRows()[0]?.[0])) as Parsed)
    },
    close() {
      connection.closeSync()
      instance.closeSync()
    },
  }
}

function statementOf(parsed: Parsed): Statement {
  if (parsed.error) {
    if (parsed.error_type === 'not implemented') return { message: 'only a SELECT is allowed here', offset: null }
    const offset = parsed.position === undefined ? null : Number(parsed.position)
    return { message: parsed.error_message.split('\n')[0] ?? '', offset }
  }
  const [only, ...more] = parsed.statements
  if (only === undefined || more.length > 0) return { message: 'exactly one statement is allowed here', offset: null }
  const slots = new Set<string>()
  collectSlots(only, slots)
  return { slots: [...slots].toSorted() }
}

function collectSlots(node: unknown, slots: Set<string>): void {
  if (Array.isArray(node)) for (const each of node) collectSlots(each, slots)
  if (typeof node !== 'object' || node === null || Array.isArray(node)) return
  const fields = node as Record<string, unknown>
  if (fields['class'] === 'PARAMETER' && typeof fields['identifier'] === 'string') slots.add(fields['identifier'])
  for (const value of Object.values(fields)) collectSlots(value, slots)
}
