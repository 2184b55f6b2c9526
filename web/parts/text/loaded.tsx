import { Skeleton, Stack, VisuallyHidden } from '@mantine/core'
import { useEffect, useState, type ReactNode } from 'react'
import { RefusalNotice } from './refusal.tsx'

const lines = <Lines />

type Asked<Data> = { data: Data | undefined; error: Error | null; refetch: () => unknown }

/** The content once it has come, before that nothing or a skeleton, and the reason when it does not come. */
export function Loaded<Data>({
  query,
  waiting = lines,
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

/** Lines of a list that is on its way. */
function Lines() {
  return (
    <Stack gap="sm">
      <VisuallyHidden>Loading</VisuallyHidden>
      <Skeleton height={44} radius="md" />
      <Skeleton height={44} radius="md" />
      <Skeleton height={44} radius="md" />
    </Stack>
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
