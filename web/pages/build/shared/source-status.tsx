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
        failing
          ? 'var(--sluice-danger)'
          : isHeld
            ? 'var(--sluice-warn-mark)'
            : source.status === 'ready'
              ? 'var(--sluice-good-mark)'
              : 'dimmed'
      }
    >
      {words}
    </Badge>
  )
}
