import { beforeAll, describe, expect, test } from 'vitest'
import { expectStatus } from '../harness/app.ts'
import type { Stage, StageProject } from './stage.ts'

/** A word that stands in a row of another project, and the name of one of its columns. */
const [marker, column] = ['a-row-of-another', 'only_others_have_this']

/** Statements that lead from one project to another, to what Trino keeps beside tables, or to what is not for reading. */
type Names = { other: string; mine: string }

const reading = ({ other, mine }: Names): string[] => [
  `SELECT * FROM ${other}.treasure`,
  `SELECT * FROM sluice.${other}.treasure`,
  `SELECT * FROM SLUICE.${other.toUpperCase()}.TREASURE`,
  `SELECT * FROM "sluice"."${other}"."treasure"`,
  `TABLE ${other}.treasure`,
  `SELECT * FROM ${other}/* a comment */./**/treasure`,
  `SELECT * FROM ${other} -- a comment\n . treasure`,
  `/* SELECT */ SELECT /*+ hint */ * FROM ${other}.treasure`,
  `SELECT * FROM U&"${[...other].map((each) => `\\00${each.charCodeAt(0).toString(16)}`).join('')}".treasure`,
  `SELECT * FROM U&"!00${other.charCodeAt(0).toString(16)}${other.slice(1)}" UESCAPE '!'.treasure`,
  `SELECT ${column} FROM ${other}.treasure`,
  `SELECT (SELECT max(${column}) FROM ${other}.treasure) AS x FROM secrets`,
  `SELECT id FROM secrets WHERE EXISTS (SELECT 1 FROM ${other}.treasure)`,
  `SELECT id FROM secrets WHERE id IN (SELECT id FROM ${other}.treasure)`,
  `SELECT * FROM secrets CROSS JOIN LATERAL (SELECT * FROM ${other}.treasure) x`,
  `SELECT * FROM secrets NATURAL JOIN ${other}.treasure`,
  `SELECT id FROM secrets UNION ALL SELECT id FROM ${other}.treasure`,
  `SELECT id FROM secrets ORDER BY (SELECT max(id) FROM ${other}.treasure)`,
  `SELECT count(*) FILTER (WHERE id > (SELECT min(id) FROM ${other}.treasure)) FROM secrets`,
  `WITH x AS (SELECT * FROM ${other}.treasure) SELECT * FROM x`,
  `WITH RECURSIVE x (n) AS (SELECT id FROM ${other}.treasure UNION ALL SELECT n + 1 FROM x WHERE n < 3) SELECT * FROM x`,
  `VALUES ((SELECT count(*) FROM ${other}.treasure))`,
  `SELECT * FROM ${other}.treasure TABLESAMPLE BERNOULLI (100)`,
  `SELECT * FROM ${other}.treasure MATCH_RECOGNIZE (PATTERN (a+) DEFINE a AS true)`,
  `SELECT * FROM ${other}.treasure FOR VERSION AS OF 1`,
  `SELECT * FROM TABLE(exclude_columns(input => TABLE(${other}.treasure), columns => DESCRIPTOR(id)))`,
  `SELECT * FROM TABLE(sluice.system.table_changes(schema_name => '${other}', table_name => 'treasure', start_snapshot_id => 0, end_snapshot_id => 1))`,
  `SELECT * FROM TABLE(sluice.system.query(query => 'SELECT 1'))`,
  `SELECT * FROM content.anything`,
  ...[
    'files',
    'snapshots',
    'history',
    'manifests',
    'partitions',
    'refs',
    'properties',
    'entries',
    'all_entries',
  ].flatMap((part) => [`SELECT * FROM ${other}."treasure$${part}"`, `SELECT * FROM "secrets$${part}"`]),
  ...['$path', '$file_modified_time', '$partition'].map((name) => `SELECT "${name}" FROM ${other}.treasure`),
  ...['$path', '$file_modified_time', '$partition'].map((name) => `SELECT "${name}" FROM secrets`),
  `SELECT * FROM secrets WHERE "$path" LIKE 's3%'`,
  ...[
    `information_schema.tables WHERE table_schema = '${other}'`,
    `information_schema.columns WHERE table_schema = '${other}' AND table_name = 'treasure'`,
    `information_schema.schemata WHERE schema_name = '${other}'`,
    `information_schema.views`,
    `information_schema.table_privileges WHERE table_schema = '${other}'`,
    `information_schema.applicable_roles`,
    `"information_schema".roles`,
    `sluice.Information_Schema.tables WHERE table_name = 'treasure'`,
    `system.information_schema.tables`,
    `system.jdbc.tables WHERE table_schem = '${other}'`,
    `system.jdbc.columns WHERE table_schem = '${other}'`,
    `system.jdbc.schemas`,
    `system.metadata.table_comments`,
    `system.metadata.table_properties`,
    `system.metadata.schema_properties`,
    `system.metadata.materialized_views`,
    `system.metadata.column_properties`,
    `system.metadata.catalogs`,
    `system.runtime.queries`,
    `system.runtime.tasks`,
    `system.runtime.nodes`,
    `system.runtime.transactions`,
    `system.runtime.optimizer_rule_stats`,
    `sluice.system.iceberg_tables`,
  ].map((from) => `SELECT * FROM ${from}`),
  `SELECT * FROM "${mine}"."secrets$refs"`,
]

const telling = ({ other }: Names): string[] => [
  'SHOW CATALOGS',
  'SHOW SCHEMAS',
  `SHOW SCHEMAS LIKE '${other.slice(0, 10)}%'`,
  `SHOW TABLES FROM ${other}`,
  `SHOW COLUMNS FROM ${other}.treasure`,
  `DESCRIBE ${other}.treasure`,
  `SHOW CREATE TABLE ${other}.treasure`,
  `SHOW CREATE SCHEMA ${other}`,
  `SHOW STATS FOR ${other}.treasure`,
  `SHOW STATS FOR (SELECT * FROM ${other}.treasure)`,
  `SHOW GRANTS ON TABLE ${other}.treasure`,
  'SHOW ROLES',
  `EXPLAIN SELECT * FROM ${other}.treasure`,
  `EXPLAIN (TYPE IO, FORMAT JSON) SELECT * FROM ${other}.treasure`,
  `EXPLAIN (TYPE LOGICAL) SELECT * FROM ${other}.treasure`,
  `EXPLAIN ANALYZE SELECT * FROM ${other}.treasure`,
  `EXECUTE IMMEDIATE 'SELECT * FROM ${other}.treasure'`,
  `EXECUTE IMMEDIATE 'EXECUTE IMMEDIATE ''SELECT * FROM ${other}.treasure'''`,
]

const changing = ({ other, mine }: Names): string[] => [
  `CREATE VIEW ${mine}.v AS SELECT * FROM ${other}.treasure`,
  `CREATE OR REPLACE VIEW ${mine}.v SECURITY DEFINER AS SELECT * FROM ${other}.treasure`,
  `CREATE VIEW ${other}.v AS SELECT 1 AS a`,
  `CREATE MATERIALIZED VIEW ${mine}.m AS SELECT * FROM ${other}.treasure`,
  `CREATE TABLE ${mine}.t AS SELECT * FROM ${other}.treasure`,
  `CREATE TABLE ${mine}.t (LIKE ${other}.treasure)`,
  `CREATE TABLE ${mine}.t (a bigint) WITH (location = 's3://elsewhere/x')`,
  `CREATE SCHEMA ${mine}_x`,
  `CREATE FUNCTION ${mine}.f() RETURNS bigint RETURN 1`,
  `WITH FUNCTION f() RETURNS bigint BEGIN RETURN 1; END SELECT ${mine}.f()`,
  `CREATE ROLE r`,
  `GRANT SELECT ON ${other}.treasure TO USER "${mine.slice(0, 30)}"`,
  `REVOKE SELECT ON ${other}.treasure FROM USER x`,
  `DENY SELECT ON secrets TO USER x`,
  `INSERT INTO ${other}.treasure (id) VALUES (9)`,
  `INSERT INTO secrets (id) VALUES (9)`,
  `UPDATE ${other}.treasure SET id = 9`,
  `DELETE FROM ${other}.treasure`,
  `TRUNCATE TABLE ${other}.treasure`,
  `TRUNCATE TABLE secrets`,
  `MERGE INTO secrets s USING ${other}.treasure t ON s.id = t.id WHEN MATCHED THEN DELETE`,
  `DROP TABLE ${other}.treasure`,
  `DROP SCHEMA ${other} CASCADE`,
  `ALTER TABLE ${other}.treasure RENAME TO ${mine}.taken`,
  `ALTER TABLE secrets RENAME TO ${other}.given`,
  `ALTER TABLE secrets ADD COLUMN a bigint`,
  `ALTER TABLE secrets SET PROPERTIES location = 's3://elsewhere/x'`,
  `ALTER TABLE secrets EXECUTE add_files(location => 's3://elsewhere/x', format => 'PARQUET')`,
  `ALTER TABLE secrets EXECUTE add_files_from_table(schema_name => '${other}', table_name => 'treasure')`,
  `ALTER SCHEMA ${other} RENAME TO ${mine}_y`,
  `ALTER SCHEMA ${other} SET AUTHORIZATION USER x`,
  `ALTER TABLE ${other}.treasure SET AUTHORIZATION USER x`,
  `COMMENT ON TABLE ${other}.treasure IS 'x'`,
  `COMMENT ON COLUMN secrets.id IS 'x'`,
  `ANALYZE ${other}.treasure`,
  `CALL sluice.system.register_table(schema_name => '${mine}', table_name => 'r', table_location => 's3://elsewhere/x')`,
  `CALL sluice.system.unregister_table(schema_name => '${other}', table_name => 'treasure')`,
  `CALL sluice.system.rollback_to_snapshot('${other}', 'treasure', 1)`,
  `CALL system.runtime.kill_query(query_id => '20260101_000000_00000_aaaaa', message => 'x')`,
  'SET SESSION AUTHORIZATION sluice',
  'SET SESSION task_concurrency = 1',
  `SET SESSION sluice.target_max_file_size = '1MB'`,
  'SET ROLE admin IN sluice',
  'KILL QUERY x',
]

/** Trino's rules in a file know nothing of these: on the cluster they may run, and must change no row. */
const maintaining = ({ other }: Names): string[] =>
  ['secrets', `${other}.treasure`].flatMap((table) => [
    `ALTER TABLE ${table} EXECUTE optimize`,
    `ALTER TABLE ${table} EXECUTE expire_snapshots(retention_threshold => '7d')`,
    `ALTER TABLE ${table} EXECUTE remove_orphan_files(retention_threshold => '7d')`,
  ])

/** Where the words of a statement and what Trino makes of them could part. */
const confusing = ({ other }: Names): string[] => [
  `SELECT 1 AS a; SELECT * FROM ${other}.treasure`,
  `SELECT '\\' AS a FROM secrets WHERE '\\' = ' UNION SELECT * FROM ${other}.treasure --'`,
  `SELECT 1 AS a /* /* */ FROM secrets */ UNION ALL SELECT id FROM ${other}.treasure`,
  `SELECT $$ FROM ${other}.treasure $$ FROM secrets`,
  `SELECT 1 AS a FROM secrets -- \r UNION ALL SELECT id FROM ${other}.treasure`,
  `SELECT 1 AS a FROM secrets --\u2028 UNION ALL SELECT id FROM ${other}.treasure`,
  `SELECT * FROM \`${other}\`.treasure`,
  `SELECT 1.FROM ${other}.treasure`,
  `SELECT id FROM 1${other}.treasure`,
  `SELECT * FROM ${other}.treasure WHERE $id = 1`,
  `SELECT * FROM ${other}\u00a0.treasure`,
  `EXPLAIN SELECT * FROM secrets`,
  `(SELECT * FROM ${other}.treasure)`,
  `SELECT 1 AS a FROM secrets UNION ALL (TABLE ${other}.treasure)`,
]

/** A project's user tries to read another's schema: on the cluster itself, past the service, and through it. */
export function describeHostile(stageOf: () => Stage): void {
  describe('a project that means harm', () => {
    let stage: Stage
    let mine: StageProject
    let other: StageProject
    let names: Names
    const schemaOf = async ({ id }: StageProject): Promise<string> => {
      const { rows } = await stage.t.app.store.pool.query<{ name: string }>(
        'select name from iceberg.trino_schemas where project_id = $1',
        [id],
      )
      return rows[0]?.name ?? ''
    }
    const ask = (sql: string, schema = names.mine) => stage.cluster.ask(sql, mine.id.toLowerCase(), schema)
    beforeAll(async () => {
      stage = stageOf()
      await stage.startJobs()
      mine = await stage.project('trino', { secrets: [{ id: 1, value: 1 }] })
      other = await stage.project('trino', { treasure: [{ id: 1, [column]: marker }] })
      await mine.deploy({ name: 'own', sql: 'SELECT count(*) AS n FROM secrets' })
      await other.deploy({ name: 'own', sql: `SELECT ${column} AS v FROM treasure` })
      names = { mine: await schemaOf(mine), other: await schemaOf(other) }
    })

    test('what it asks of the cluster as its own user tells nothing of another project, and changes nothing', async () => {
      const all = [reading, telling, changing, maintaining, confusing].flatMap((make) => make(names))
      const leaks: string[] = []
      for (const sql of all) {
        const { rows, error } = await ask(sql)
        const told = `${JSON.stringify(rows)} ${error ?? ''}`
        if (rows.length > 0 && told.includes(names.other)) leaks.push(`${sql}: ${told}`)
        if (told.includes(marker) || (told.includes(column) && !sql.includes(column))) leaks.push(`${sql}: ${told}`)
      }
      for (const sql of changing(names)) {
        const { error } = await ask(sql)
        if (error === null || /^(GENERIC|INTERNAL)/.test(error)) leaks.push(`${sql}: ${error}`)
      }
      // In its own schema's place, another's has no tables for it either.
      expect((await ask('SELECT * FROM treasure', names.other)).error).toMatch(/^PERMISSION_DENIED/)
      expect(leaks).toEqual([])
      expect(await ask('SELECT count(*) FROM secrets')).toEqual({ rows: [[1]], error: null })
      const { body } = await expectStatus(200, other.caller.post('/v1/queries/own', {}))
      expect(body.data).toEqual([{ v: marker }])
      expect([await schemaOf(mine), await schemaOf(other)]).toEqual([names.mine, names.other])
    })

    test('what its user for models asks of the cluster reads no more, and writes nowhere but in a schema that none reads', async () => {
      await mine.deploy({ name: 'own', sql: 'SELECT count(*) AS n FROM secrets' })
      const user = `models_${mine.id.toLowerCase()}`
      const made = (at: number) => `sluice.${user}.made_1_${at.toString(16).padStart(32, '0')}`
      const as = (sql: string) => stage.cluster.ask(sql, user, names.mine)
      await stage.t.app.store.pool.query(
        `insert into iceberg.iceberg_namespace_properties (catalog_name, namespace, property_key, property_value)
         values ('sluice', $1, 'exists', 'true') on conflict do nothing`,
        [user],
      )
      const through: string[] = []
      const foreign = reading(names).filter((sql) => sql.includes(names.other) || /\bsystem\.|content\./.test(sql))
      for (const [at, sql] of foreign.entries()) {
        const { error } = await as(`CREATE TABLE ${made(at)} AS SELECT * FROM (\n${sql}\n)`)
        const isOver = error === null && !sql.includes('information_schema') && !sql.includes('system.jdbc')
        if (isOver || (error ?? '').includes(marker)) through.push(`${sql}: ${error}`)
      }
      for (const sql of [...changing(names), ...maintaining(names).filter((each) => each.includes(names.other))]) {
        const { error } = await as(sql)
        if (error === null || /^(GENERIC|INTERNAL)/.test(error)) through.push(`${sql}: ${error}`)
      }
      for (const sql of [
        `CREATE TABLE sluice.models_${other.id.toLowerCase()}.made_1_${'0'.repeat(32)} AS SELECT 1 AS a`,
        `CREATE TABLE sluice.${user}.mine AS SELECT 1 AS a`,
        `CREATE TABLE sluice.content.mine AS SELECT 1 AS a`,
        `CREATE TABLE ${names.mine}.mine AS SELECT 1 AS a`,
      ]) {
        const { error } = await as(sql)
        if (error?.startsWith('PERMISSION_DENIED') !== true) through.push(`${sql}: ${error}`)
      }
      expect(through).toEqual([])
      const own = await as(`CREATE TABLE ${made(500)} AS SELECT * FROM secrets`)
      expect(own.error).toBeNull()
      expect((await as(`SELECT * FROM ${made(500)}`)).error).toMatch(/^PERMISSION_DENIED/)
      // Its user for queries neither reads nor writes there.
      for (const sql of [
        `SELECT * FROM ${made(500)}`,
        `CREATE TABLE ${made(501)} AS SELECT 1 AS a`,
        `DROP TABLE ${made(500)}`,
      ]) {
        expect((await ask(sql)).error, sql).toMatch(/^PERMISSION_DENIED/)
      }
      expect((await as(`DROP TABLE ${made(500)}`)).error).toBeNull()
    })

    test('a model through the service reads no other project, and a refusal tells nothing', async () => {
      const models = `/v1/projects/${mine.id}/models`
      const through: string[] = []
      const user = `models_${mine.id.toLowerCase()}`
      const more = [
        `SELECT * FROM ${user}.made_1_${'0'.repeat(32)}`,
        `SELECT id FROM secrets) AS a (b) WITH NO DATA --`,
        `SELECT id FROM secrets\n) CROSS JOIN (SELECT * FROM ${names.other}.treasure`,
      ]
      for (const [at, sql] of [...reading(names), ...changing(names), ...more].entries()) {
        const { status, body } = await stage.t.operator.post(models, { name: `hostile_${at}`, sql })
        const told = JSON.stringify(body).replaceAll(names.other, '').replaceAll(names.mine, '')
        if (status !== 400 || told.includes(marker) || /Access Denied|s3:/.test(told)) {
          through.push(`${sql}: ${status} ${told.slice(0, 300)}`)
        }
      }
      expect(through).toEqual([])
    })

    test('whether another project has a table or a column is not told by the service', async () => {
      const told = await Promise.all(
        ['treasure', 'no_such_table'].flatMap((table) =>
          [column, 'no_such_column'].map(async (name) => {
            const sql = `SELECT ${name} FROM ${names.other}.${table}`
            return (await stage.t.operator.post(`${mine.path}/inspect`, { sql })).body.details
          }),
        ),
      )
      const message = 'A query reads the tables of its project by their names alone.'
      expect(told).toEqual(told.map(() => [{ field: 'sql', message }]))
    })

    test('queries of others are not listed', async () => {
      await expectStatus(200, other.caller.post('/v1/queries/own', {}))
      const user = mine.id.toLowerCase()
      const listed = await fetch(`${stage.cluster.url}/v1/query`, { headers: { 'x-trino-user': user } })
      const users = ((await listed.json()) as Array<{ session: { user: string } }>).map(({ session }) => session.user)
      expect(new Set(users)).toEqual(new Set([user]))
    })

    test('through the service none of them reads or changes anything, and a refusal tells nothing', async () => {
      const harmless = new Set(confusing(names))
      const through: string[] = []
      const all = [reading, telling, changing, maintaining, confusing].flatMap((make) => make(names))
      for (const [at, sql] of all.entries()) {
        const answers = [
          await stage.t.operator.post(`${mine.path}/inspect`, { sql }),
          await stage.t.operator.post(mine.path, { name: `hostile_${at}`, sql }),
          await stage.t.operator.post(`${mine.path}/run`, { sql, parameters: {} }),
        ]
        for (const { status, body } of answers) {
          const told = JSON.stringify(body).replaceAll(names.other, '').replaceAll(names.mine, '')
          // Some are only strange, and read what is the project's own.
          const isRefused = status === 400 || (harmless.has(sql) && (status === 200 || status === 201))
          if (!isRefused || told.includes(marker) || /Access Denied|s3:|prj_[0-9a-z]{26}_/.test(told)) {
            through.push(`${sql}: ${status} ${told.slice(0, 300)}`)
          }
        }
      }
      expect(through).toEqual([])
    })

    test('SQL that is none is refused in Trino’s words, at its place', async () => {
      const { status, body } = await stage.t.operator.post(`${mine.path}/inspect`, {
        sql: 'SELECT id\nFRM secrets x y',
      })
      expect([status, body.reason, body.line]).toEqual([400, 'invalid_sql', 2])
      expect(body.message).toMatch(/mismatched input/)
    })

    test('values of slots stay values', async () => {
      await mine.deploy({ name: 'by_value', sql: 'SELECT $v AS v, value FROM secrets WHERE $v IS NOT NULL' })
      for (const v of [`' UNION SELECT * FROM ${names.other}.treasure --`, `'')), (SELECT 1`, '$v', '?', `\\'; --`]) {
        const { body } = await expectStatus(200, mine.caller.post('/v1/queries/by_value', { v }))
        expect(body.data).toEqual([{ v, value: 1 }])
      }
    })
  })
}
