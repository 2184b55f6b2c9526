import { Group } from '@mantine/core'
import { useEffect, useState, type ReactNode } from 'react'
import { RefusalNotice } from './refusal.tsx'
import { Waiting } from './waiting.tsx'

const arriving = <Arriving />

type Asked<Data> = { data: Data | undefined; error: Error | null; refetch: () => unknown }

/** The content once it has come, before that nothing or a skeleton, and the reason when it does not come. */
export function Loaded<Data>({
  query,
  waiting = arriving,
  children,
}: {
  query: Asked<Data>
  waiting?: ReactNode
  children: (data: Data) => ReactNode
}) {
  if (query.data !== undefined) return children(query.data)
  if (query.error !== null) return <RefusalNotice error={query.error} onRetry={() => void query.refetch()} />
  return <Late>{waiting}</Late>
}

/** The sign of content that is on its way. */
function Arriving() {
  return (
    <Group justify="center" py="lg">
      <Waiting says="Loading" />
    </Group>
  )
}

/** Shows itself after 300 ms: what arrives sooner should not flicker. */
function Late({ children }: { children: ReactNode }) {
  const [late, setLate] = useState(false)
  useEffect(() => {
    const timer = setTimeout(() => setLate(true), 300)
    return () => clearTimeout(timer)
  }, [])
  return late ? children : null
}
