import { inTransaction, type Database } from '../../store/index.ts'
import { contentSchema, makingPrefix, neededUntil } from './names.ts'

/** A name in a schema, and the table that it is bound to. */
export type BoundTable = { name: string; content: string }

/**
 * The catalog that Trino reads, in our own database. A schema of it is written in one transaction and never changes, so
 * that whoever reads in it finds the tables of one moment. Tables are never dropped by Trino, which would delete the
 * objects that they are made of.
 */
export type IcebergCatalog = ReturnType<typeof createIcebergCatalog>

// Over 70 lines: one statement or two for each thing that is written there.
export function createIcebergCatalog(
  { pool }: Pick<Database, 'pool'>,
  { catalog, location }: { catalog: string; location: string },
) {
  return {
    /** A schema that tables are made in. */
    async prepare(schema: string): Promise<void> {
      await pool.query(
        `insert into iceberg.iceberg_namespace_properties (catalog_name, namespace, property_key, property_value)
         values ($1, $2, 'location', $3), ($1, $2, 'exists', 'true') on conflict do nothing`,
        [catalog, schema, `${location}/${schema}`],
      )
    },

    /** Lets go of a table of a model. */
    async discard(schema: string, name: string): Promise<void> {
      await pool.query(
        'delete from iceberg.iceberg_tables where catalog_name = $1 and table_namespace = $2 and table_name = $3',
        [catalog, schema, name],
      )
    },

    /** Lets go of tables of models whose builds were killed. */
    async discardOverdue(now: number): Promise<void> {
      const { rows } = await pool.query<{ schema: string; name: string }>(
        `select table_namespace as schema, table_name as name from iceberg.iceberg_tables
         where catalog_name = $1 and starts_with(table_namespace, 'models_')`,
        [catalog],
      )
      for (const { schema, name } of rows) {
        if ((neededUntil(name) ?? 0) < now) await this.discard(schema, name)
      }
    },

    /** Those of some tables that are there; they stay for as long as a sweep leaves what is young. */
    async known(contents: readonly string[]): Promise<Set<string>> {
      const { rows } = await pool.query<{ content: string }>(
        'update iceberg.trino_tables set made_at = now() where content = any($1) returning content',
        [contents],
      )
      return new Set(rows.map(({ content }) => content))
    },

    /** A table that was made is there from now on, whole. Where two made the same, one of them stays. */
    async settle({
      made,
      content,
      copyHash,
    }: {
      made: string
      content: string
      copyHash: string | null
    }): Promise<void> {
      await inTransaction({ pool }, async (connection) => {
        await connection.query(
          `insert into iceberg.iceberg_tables (catalog_name, table_namespace, table_name, metadata_location, iceberg_type)
           select catalog_name, table_namespace, $3, metadata_location, 'TABLE' from iceberg.iceberg_tables
           where catalog_name = $1 and table_namespace = $2 and table_name = $4 on conflict do nothing`,
          [catalog, contentSchema, content, made],
        )
        await connection.query(
          'insert into iceberg.trino_tables (content, copy_hash) values ($1, $2) on conflict (content) do update set made_at = now()',
          [content, copyHash],
        )
        await connection.query(
          'delete from iceberg.iceberg_tables where catalog_name = $1 and table_namespace = $2 and table_name = $3',
          [catalog, contentSchema, made],
        )
      })
    },

    /** Whether a schema is there; it stays for as long as a sweep leaves what is used. */
    async touch(schema: string): Promise<boolean> {
      const { rowCount } = await pool.query('update iceberg.trino_schemas set used_at = now() where name = $1', [
        schema,
      ])
      return rowCount === 1
    },

    /** Names bound to tables, all at once. */
    async bind(projectId: string, schema: string, tables: readonly BoundTable[]): Promise<void> {
      await inTransaction({ pool }, async (connection) => {
        const { rowCount } = await connection.query(
          `insert into iceberg.iceberg_tables (catalog_name, table_namespace, table_name, metadata_location, iceberg_type)
           select catalog_name, $3, bound.name, metadata_location, 'TABLE'
           from unnest($4::text[], $5::text[]) as bound (name, content)
           join iceberg.iceberg_tables on catalog_name = $1 and table_namespace = $2 and table_name = bound.content
           on conflict (catalog_name, table_namespace, table_name) do update set iceberg_type = 'TABLE'`,
          [catalog, contentSchema, schema, tables.map(({ name }) => name), tables.map(({ content }) => content)],
        )
        if (rowCount !== tables.length) throw new Error(`${schema}: ${rowCount} of ${tables.length} tables are there`)
        await connection.query(
          'insert into iceberg.trino_schemas (name, project_id) values ($1, $2) on conflict (name) do update set used_at = now()',
          [schema, projectId],
        )
      })
    },

    /** Projects whose tables Trino knows. */
    async projects(): Promise<string[]> {
      const { rows } = await pool.query<{ id: string }>(
        'select distinct project_id as id from iceberg.trino_schemas order by 1',
      )
      return rows.map(({ id }) => id)
    },

    /**
     * Lets go of schemas that nobody has read in for a day, and of tables that are in none. Answers with the metadata
     * files of those, which are to be removed.
     */
    async forgetUnused(now: number): Promise<string[]> {
      const metadata: string[] = []
      await inTransaction({ pool }, async (connection) => {
        await connection.query("delete from iceberg.trino_schemas where used_at < now() - interval '1 day'")
        await connection.query(
          `delete from iceberg.iceberg_tables where catalog_name = $1 and table_namespace <> $2
           and not starts_with(table_namespace, 'models_') and not exists (select 1 from iceberg.trino_schemas where name = table_namespace)`,
          [catalog, contentSchema],
        )
        await connection.query(
          `delete from iceberg.trino_tables where made_at < now() - interval '1 hour' and not exists (
             select 1 from iceberg.iceberg_tables as made join iceberg.iceberg_tables as bound
             on bound.catalog_name = made.catalog_name and bound.metadata_location = made.metadata_location
             and bound.table_namespace <> made.table_namespace
             where made.catalog_name = $1 and made.table_namespace = $2 and made.table_name = trino_tables.content)`,
          [catalog, contentSchema],
        )
        const { rows } = await connection.query<{ metadata: string | null }>(
          `delete from iceberg.iceberg_tables where catalog_name = $1 and table_namespace = $2
           and not exists (select 1 from iceberg.trino_tables where content = table_name)
           and (table_name not like $3 || '%' or split_part(table_name, '_', 2)::bigint < $4)
           returning metadata_location as metadata`,
          [catalog, contentSchema, makingPrefix, now - unfinishedMs],
        )
        metadata.push(...rows.flatMap((row) => row.metadata ?? []))
      })
      return metadata
    },
  }
}

/** A table that is unfinished by then will never be finished. */
const unfinishedMs = 24 * 60 * 60 * 1000
