import { Skeleton } from '@mantine/core'
import { lazy, Suspense } from 'react'
import type { HeldGridProps } from './held-grid.tsx'

const HeldGrid = lazy(async () => ({ default: (await import('./held-grid.tsx')).HeldGrid }))

/** Rows of data, wherever they are shown. Loaded once there are some. */
export function DataGrid(props: HeldGridProps) {
  return (
    <Suspense fallback={<Skeleton height={Math.min(560, 120 + props.rows.length * 32)} />}>
      <HeldGrid {...props} />
    </Suspense>
  )
}
