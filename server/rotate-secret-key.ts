import { text } from 'node:stream/consumers'
import { rotateVaultKey } from './access/index.ts'
import { readConfig } from './config.ts'
import { resealApis, resealAttempts, resealDatasources, resealGrants, resealVariables } from './connections/index.ts'
import { resealRecordedCalls, resealReplayCalls } from './rollout/index.ts'
import { openDatabase } from './store/index.ts'
import { resealChannels, resealSharedChannels } from './usage/index.ts'

/**
 * `npm run rotate-secret-key`, while the service is stopped: seals every stored credential with a new key. Where
 * SLUICE_SECRET_KEY is set, the new key comes on standard input and is to be set before the next start.
 */
async function rotate(): Promise<void> {
  const config = readConfig(process.env)
  if ('mistakes' in config) throw new Error(`Configuration: ${config.mistakes.join('; ')}.`)
  const newKey = config.secretKey === undefined ? undefined : (await text(process.stdin)).trim()
  if (newKey !== undefined && newKey.length < 32) {
    throw new Error(
      'The key is configured by SLUICE_SECRET_KEY: give the new one, of at least 32 characters, on standard input.',
    )
  }
  const { dataDir, databaseUrl, secretKey, limits } = config
  const store = await openDatabase({
    dataDir,
    databaseUrl,
    connections: limits.databaseConnections,
    timeoutMs: limits.databaseTimeoutMs,
    observe: () => undefined,
  })
  try {
    const ofConnections = [resealDatasources, resealApis, resealVariables, resealGrants, resealAttempts]
    const reseals = [...ofConnections, resealChannels, resealSharedChannels, resealRecordedCalls, resealReplayCalls]
    const { resealed } = await rotateVaultKey({ store, dataDir, secretKey }, { reseals, newKey })
    const next = newKey === undefined ? '' : ' Set SLUICE_SECRET_KEY to the new key before the next start.'
    process.stdout.write(`Sealed ${resealed} stored credentials with a new key.${next}\n`)
  } finally {
    await store.close()
  }
}

rotate().catch((error: unknown) => {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`)
  process.exit(1)
})
