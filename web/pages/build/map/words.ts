import { Boxes, Cable, Database, FileCode2, KeyRound, type LucideIcon } from 'lucide-react'
import type { Kind, Status } from './graph.ts'

export const kindWords: Record<Kind, { one: string; many: string; the: string; icon: LucideIcon }> = {
  source: { one: 'Connection', many: 'Connections', the: 'the connection', icon: Cable },
  table: { one: 'Table', many: 'Tables', the: 'the table', icon: Database },
  query: { one: 'Query', many: 'Queries', the: 'the query', icon: FileCode2 },
  environment: { one: 'Environment', many: 'Environments', the: 'its endpoints', icon: Boxes },
  caller: { one: 'Caller', many: 'Callers', the: 'the key', icon: KeyRound },
}

export const statusWords: Record<Status, string> = {
  fresh: 'fresh',
  stale: 'stale',
  waiting: 'waits for you',
  failing: 'failing',
  new: 'not fetched yet',
  draft: 'not deployed',
}
