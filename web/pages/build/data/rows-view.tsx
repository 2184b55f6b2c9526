import { Text } from '@mantine/core'
import { useDebouncedValue } from '@mantine/hooks'
import { keepPreviousData, useQueries } from '@tanstack/react-query'
import { useState } from 'react'
import { call } from '../../../client/api.ts'
import { Grid } from '../../../parts/grid/grid.tsx'
import { wholeView, type GridRow, type GridSource, type View } from '../../../parts/cells/model.ts'
import { RefusalNotice } from '../../../parts/text/refusal.tsx'
import { buildKeys } from '../shared/asked.ts'
import type { DescribedObject, ObjectRows } from '../shared/wire.ts'
import { sayNumber } from '../../../text/words.ts'

const pageRows = 250
const collectedRows = 1000
/** No browser draws an element taller than this allows: Firefox stops at some 17 million pixels. */
const maxRows = 500_000

/** All rows of a version, sorted and filtered by the service; those in sight are fetched as one scrolls to them. */
export function RowsView({ projectId, object }: { projectId: string; object: DescribedObject }) {
  const path = `/v1/projects/${projectId}/data-objects/${object.id}`
  const { source, error } = useTableRows(projectId, path, object)
  return (
    <>
      <RefusalNotice error={error} />
      <Grid
        label={`Rows of ${object.table_name}`}
        columns={object.columns ?? noColumns}
        source={source}
        storageKey={`${projectId} table ${object.table_name}`}
        download={{
          name: `${object.table_name}-${object.version}`,
          fetch: (format) => fetch(`${path}/download?format=${format}`),
        }}
      />
      {(object.row_count ?? 0) > maxRows && (
        <Text size="xs" c="dimmed" mt="xs">
          The first {sayNumber(maxRows)} rows. Sort, filter or search to see others.
        </Text>
      )}
    </>
  )
}

const noColumns: NonNullable<DescribedObject['columns']> = []

function useTableRows(
  projectId: string,
  path: string,
  object: DescribedObject,
): { source: GridSource; error: Error | null } {
  const [view, setView] = useState(wholeView)
  const [pages, setPages] = useState([0])
  const [asked] = useDebouncedValue(searchOf(view), 200)
  const read = (from: number, limit: number, signal?: AbortSignal): Promise<ObjectRows> =>
    call<ObjectRows>(
      'GET',
      `${path}/rows?limit=${limit}&cursor=${from}${asked}`,
      signal === undefined ? {} : { signal },
    )
  const answers = useQueries({
    queries: pages.map((page) => ({
      queryKey: [...buildKeys.rows(projectId, object.id, page * pageRows), asked],
      // A version never changes.
      staleTime: Infinity,
      placeholderData: keepPreviousData,
      queryFn: ({ signal }: { signal: AbortSignal }) => read(page * pageRows, pageRows, signal),
    })),
  })
  const rows = new Map(pages.map((page, index) => [page, answers[index]?.data]))
  const total = object.row_count ?? 0
  const found = answers.find(({ data }) => data !== undefined)?.data
  const count = Math.min(asked === '' ? total : (found?.row_count ?? total), maxRows)
  const source: GridSource = {
    total,
    count,
    rowAt: (place) => rows.get(Math.floor(place / pageRows))?.data[place % pageRows],
    numberAt: (place) => place,
    view,
    onView: setView,
    onSight: (first, last) => {
      const [from, to] = [Math.floor(first / pageRows), Math.floor(last / pageRows)]
      setPages((before) =>
        before[0] === from && before.at(-1) === to
          ? before
          : Array.from({ length: to - from + 1 }, (_, index) => from + index),
      )
    },
    profileOf: (name) => object.profile?.columns.find((column) => column.name === name),
    profiledRows: object.profile?.row_count ?? total,
    async collect(most) {
      const taken: GridRow[] = []
      while (taken.length < Math.min(most, count)) {
        const page = await read(taken.length, Math.min(collectedRows, most - taken.length))
        taken.push(...page.data)
        if (page.next_cursor === null) break
      }
      return taken
    },
    pending: asked !== searchOf(view) || answers.some(({ isPlaceholderData }) => isPlaceholderData),
  }
  return { source, error: answers.find((each) => each.error !== null)?.error ?? null }
}

function searchOf({ sort, filters, search }: View): string {
  const asked = new URLSearchParams()
  if (sort !== null) asked.set('sort', sort.column)
  if (sort?.descending === true) asked.set('order', 'desc')
  if (search.trim() !== '') asked.set('search', search.trim())
  for (const { test, column, value } of filters) {
    asked.append('filter', `${test}:${column}${value === undefined ? '' : `:${value}`}`)
  }
  const text = asked.toString()
  return text === '' ? '' : `&${text}`
}
