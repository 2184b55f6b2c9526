import { createHash, timingSafeEqual } from 'node:crypto'
import type { Bucket, Files } from '../files/index.ts'
import type { DialectEngine, Engine, TableBuilder } from '../engine/index.ts'
import type { Database } from '../store/index.ts'
import { accessRules } from './catalog/access-rules.ts'
import { openTrinoClient } from './client/client.ts'
import { createTrinoEngine, type TrinoLimits } from './trino-engine.ts'
import { createIcebergCatalog } from './catalog/iceberg-catalog.ts'
import { createModelTables } from './catalog/model-tables.ts'
import { createTrinoSchemas } from './catalog/schemas.ts'
import { createSpool } from './client/spool.ts'

export type TrinoOptions = {
  url: string
  user: string
  password: string | undefined
  catalog: string
  rulesKey: string
  /** Longest wait for an answer to one request, and for a table to be made. */
  requestTimeoutMs: number
  tableTimeoutMs: number
  limits: TrinoLimits
}

type Parts = {
  store: Database
  files: Files
  builder: TableBuilder
  executors: Pick<Engine, 'convert' | 'stream' | 'writeTable'>
  bucket: Bucket
  now: () => number
}

export type Trino = {
  engine: DialectEngine
  /** Rules for Trino's access control, for a caller with the key; undefined for anybody else. */
  accessRules(key: string): Promise<ReturnType<typeof accessRules> | undefined>
  /** Whether the coordinator answers. */
  isReached(): Promise<boolean>
  /** Lets go of what no project reads any more. */
  sweep(): Promise<number>
  close(): Promise<void>
}

/** A cluster that reads the same objects. Nothing is asked of it before a project needs it. */
export function openTrino(options: TrinoOptions, parts: Parts): Trino {
  const { user, catalog, limits } = options
  const { store, bucket, now } = parts
  const client = openTrinoClient({ ...options, timeoutMs: options.requestTimeoutMs, connections: limits.queries })
  const location = `${bucket.url.replace(/\/$/, '')}/iceberg`
  const iceberg = createIcebergCatalog(store, { catalog, location })
  const schemas = createTrinoSchemas({ ...parts, client, iceberg, catalog, timeoutMs: options.tableTimeoutMs })
  const models = createModelTables({ ...parts, client, iceberg, catalog, location: `${location}/models` })
  const engine = createTrinoEngine({ client, schemas, models, spool: createSpool(parts), limits })
  return {
    engine,
    async accessRules(key) {
      if (!isSame(key, options.rulesKey)) return undefined
      return accessRules({ user, catalog, projectIds: await iceberg.projects() })
    },
    isReached: () => client.isReached(),
    async sweep() {
      await models.sweep()
      const metadata = await iceberg.forgetUnused(now())
      for (const file of metadata) await bucket.removeUnder(`${file.slice(0, file.indexOf('/metadata/'))}/`)
      return metadata.length
    },
    close: () => client.close(),
  }
}

/** In a time that tells nothing of where they differ. */
function isSame(left: string, right: string): boolean {
  const [a, b] = [digest(left), digest(right)]
  return timingSafeEqual(a, b)
}

function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest()
}
