import { Badge } from '@mantine/core'
import type { Datasource } from './wire.ts'

export function SourceStatus({ source }: { source: Pick<Datasource, 'status' | 'last_error'> }) {
  const failing = source.status === 'failed' || source.last_error !== null
  const isHeld = source.status === 'held'
  const words = failing ? 'Failing' : isHeld ? 'New data held' : source.status === 'ready' ? 'Ready' : 'Not fetched'
  return (
    <Badge
      miw="max-content"
      variant="default"
      radius="sm"
      tt="none"
      fw={500}
      c={
        failing || isHeld ? 'var(--sluice-danger)' : source.status === 'ready' ? 'var(--sluice-accent-text)' : 'dimmed'
      }
    >
      {words}
    </Badge>
  )
}
