import { mkdtemp, readFile, rename, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { openInstalledVault, rotateVaultKey } from '../../server/access/index.ts'
import { resealDatasources, resealVariables } from '../../server/connections/index.ts'
import { openDatabase, type Database } from '../../server/store/index.ts'
import { resealChannels } from '../../server/usage/index.ts'
import { createDatabase, type TestDatabase } from '../harness/database.ts'

const projectId = 'prj_test'
let database: TestDatabase
let store: Database
let dataDir: string
beforeEach(async () => {
  database = await createDatabase()
  dataDir = await mkdtemp(join(tmpdir(), 'sluice-vault-'))
  const observe = () => undefined
  store = await openDatabase({ dataDir, databaseUrl: database.url, connections: 2, timeoutMs: 5_000, observe })
  await store.db.insertInto('projects').values({ id: projectId, name: 'Test' }).execute()
})
afterEach(async () => {
  await store.close()
  await database.drop()
  await rm(dataDir, { recursive: true })
})

const place = () => ({ store, dataDir })

async function storeSecret(sealed: Buffer): Promise<void> {
  const row = { id: 'ds_1', projectId, name: 'a', kind: 'http_api', tableName: 'a' } as const
  await store.db
    .insertInto('datasources')
    .values({ ...row, sealedSecrets: sealed })
    .execute()
}

async function storeChannels(...secrets: Array<Buffer | null>): Promise<void> {
  const rule = { type: 'error_rate_above', windowMinutes: 5, forMinutes: 0, minRequests: 0 } as const
  await store.db
    .insertInto('alerts')
    .values({ id: 'alr_1', projectId, name: 'a', ...rule })
    .execute()
  for (const [position, sealedSecrets] of secrets.entries()) {
    const channel = { id: `chn_${position}`, alertId: 'alr_1', position, type: 'webhook', target: 'x' } as const
    await store.db
      .insertInto('alertChannels')
      .values({ ...channel, sealedSecrets })
      .execute()
  }
}

async function storedSecret(): Promise<Buffer> {
  const row = await store.db.selectFrom('datasources').select('sealedSecrets').executeTakeFirstOrThrow()
  if (row.sealedSecrets === null) throw new Error('no secret')
  return row.sealedSecrets
}

describe('the vault', () => {
  test('opens what it sealed, never twice the same bytes, and nothing that was changed', async () => {
    const vault = await openInstalledVault(place())
    const sealed = vault.seal({ token: 'hunter2' })
    expect(vault.open(sealed)).toEqual({ token: 'hunter2' })
    expect(sealed.equals(vault.seal({ token: 'hunter2' }))).toBe(false)
    expect(sealed.toString('latin1')).not.toContain('hunter2')
    for (const at of [0, 5, 20, sealed.length - 1]) {
      const changed = Buffer.from(sealed)
      changed[at] = (changed[at] ?? 0) ^ 1
      expect(() => vault.open(changed), String(at)).toThrow(/./)
    }
  })

  test('makes a key in the data folder that only its owner reads', async () => {
    await openInstalledVault(place())
    expect((await stat(join(dataDir, 'secret.key'))).mode & 0o777).toBe(0o600)
  })

  test('refuses a key that the secrets were not sealed with', async () => {
    await openInstalledVault(place())
    await writeFile(join(dataDir, 'secret.key'), 'another key')
    await expect(openInstalledVault(place())).rejects.toThrow(/secret\.key .* is not the key/)
    const configured = { ...place(), secretKey: 'a configured key that is another one' }
    await expect(openInstalledVault(configured)).rejects.toThrow(/SLUICE_SECRET_KEY is not the key/)
  })

  test('a rotation seals everything anew; the old key opens nothing any more', async () => {
    const before = await openInstalledVault(place())
    await storeSecret(before.seal('x'))
    const variable = { id: 'var_1', projectId, name: 'key', sealedValue: before.seal('y') }
    await store.db.insertInto('variables').values(variable).execute()
    await storeChannels(before.seal('y'), null)
    const reseals = [resealDatasources, resealVariables, resealChannels]
    expect(await rotateVaultKey(place(), { reseals })).toEqual({ resealed: 3 })
    const after = await openInstalledVault(place())
    const { sealedValue } = await store.db.selectFrom('variables').select('sealedValue').executeTakeFirstOrThrow()
    expect(sealedValue !== null && after.open(sealedValue)).toBe('y')
    const sealed = await storedSecret()
    expect(after.open(sealed)).toBe('x')
    expect(() => before.open(sealed)).toThrow(/./)
    const channels = await store.db.selectFrom('alertChannels').select('sealedSecrets').orderBy('position').execute()
    expect(channels.map(({ sealedSecrets }) => sealedSecrets && after.open(sealedSecrets))).toEqual(['y', null])
  })

  test('a rotation killed before its key took its place is finished by the next start', async () => {
    await openInstalledVault(place())
    const old = await readFile(join(dataDir, 'secret.key'), 'utf8')
    await rotateVaultKey(place(), { reseals: [resealDatasources] })
    await rename(join(dataDir, 'secret.key'), join(dataDir, 'secret.key.next'))
    await writeFile(join(dataDir, 'secret.key'), old)
    expect(await openInstalledVault(place())).toBeDefined()
    expect(await readFile(join(dataDir, 'secret.key'), 'utf8')).not.toBe(old)
  })
})
