import { Stack } from '@mantine/core'
import { SquareTerminal } from 'lucide-react'
import { useSearch } from 'wouter'
import { Empty } from '../../../parts/text/empty.tsx'
import { Loaded } from '../../../parts/text/loaded.tsx'
import type { Place } from '../../deploy/shared/place.ts'
import { useVersion } from '../../deploy/shared/queries.ts'
import type { Query } from '../../deploy/shared/wire.ts'
import { Console } from './console.tsx'
import { Facts } from './facts.tsx'

/** The live version, called by hand, with what its callers have to know. */
export function TryView({ place, query: { name }, live }: { place: Place; query: Query; live: number | null }) {
  const version = useVersion({ projectId: place.project.id, name }, live ?? undefined)
  const asked = new URLSearchParams(useSearch()).get('values')
  if (live === null) {
    return (
      <Empty icon={<SquareTerminal size={20} />}>
        {name} does not answer in {place.environment}. Deploy it there to call it.
      </Empty>
    )
  }
  return (
    <Loaded query={version}>
      {(content) => (
        <Stack gap="lg">
          <Console key={`${live} ${asked}`} place={place} name={name} content={content} values={valuesIn(asked)} />
          <Facts place={place} name={name} version={content} />
        </Stack>
      )}
    </Loaded>
  )
}

/** Values that came with the address, of a call that was made before. */
function valuesIn(text: string | null): Record<string, unknown> | undefined {
  try {
    const values: unknown = JSON.parse(text ?? '')
    return typeof values === 'object' && values !== null ? (values as Record<string, unknown>) : undefined
  } catch {
    return undefined
  }
}
