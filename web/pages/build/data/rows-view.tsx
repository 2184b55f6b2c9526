import { Text } from '@mantine/core'
import { useQueries } from '@tanstack/react-query'
import { useState } from 'react'
import { call } from '../../../api.ts'
import { RefusalNotice } from '../../../parts/refusal.tsx'
import { buildKeys } from '../asked.ts'
import { Grid } from '../../../parts/grid.tsx'
import type { DescribedObject, ObjectRows } from '../wire.ts'
import { sayNumber } from '../../../words.ts'

const pageRows = 250
/** A browser draws no element taller than some 30 million pixels. */
const maxRows = 900_000

/** All rows of a version; those in sight are fetched as one scrolls to them. */
export function RowsView({ projectId, object }: { projectId: string; object: DescribedObject }) {
  const [pages, setPages] = useState([0])
  const asked = useQueries({
    queries: pages.map((page) => ({
      queryKey: buildKeys.rows(projectId, object.id, page * pageRows),
      // A version never changes.
      staleTime: Infinity,
      queryFn: ({ signal }: { signal: AbortSignal }) =>
        call<ObjectRows>(
          'GET',
          `/v1/projects/${projectId}/data-objects/${object.id}/rows?limit=${pageRows}&cursor=${page * pageRows}`,
          { signal },
        ),
    })),
  })
  const rows = new Map(pages.map((page, index) => [page, asked[index]?.data?.data]))
  const error = asked.find((each) => each.error !== null)?.error ?? null
  const count = Math.min(object.row_count ?? 0, maxRows)
  return (
    <>
      <RefusalNotice error={error} />
      <Grid
        label={`Rows of ${object.table_name}`}
        columns={object.columns ?? []}
        count={count}
        rowAt={(index) => rows.get(Math.floor(index / pageRows))?.[index % pageRows]}
        onSight={(first, last) => {
          const [from, to] = [Math.floor(first / pageRows), Math.floor(last / pageRows)]
          setPages((before) =>
            before[0] === from && before.at(-1) === to
              ? before
              : Array.from({ length: to - from + 1 }, (_, index) => from + index),
          )
        }}
      />
      {(object.row_count ?? 0) > maxRows && (
        <Text size="xs" c="dimmed" mt="xs">
          The first {sayNumber(maxRows)} rows. Ask for others with a query.
        </Text>
      )}
    </>
  )
}
