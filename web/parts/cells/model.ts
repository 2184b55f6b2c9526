import type * as data from '../../../api/data.ts'
import type { z } from 'zod'

export type GridColumn = { name: string; type: string }
export type GridRow = Record<string, unknown>
export type ColumnProfile = NonNullable<z.output<typeof data.describedObject>['profile']>['columns'][number]

export type Sort = { column: string; descending: boolean }
export type Filter = z.output<typeof data.rowFilter>
export type FilterTest = Filter['test']

/** Which rows are looked at, and in which order. */
export type View = { sort: Sort | null; filters: Filter[]; search: string }

export const wholeView: View = { sort: null, filters: [], search: '' }

/** Where rows come from: those at hand, or a table of the service, which sorts and filters itself. */
export type GridSource = {
  /** How many there are, and how many of them are looked at. */
  total: number
  count: number
  /** By its place in the view; undefined while it is on its way. */
  rowAt: (place: number) => GridRow | undefined
  /** The number that it has among all of them, from 0. */
  numberAt: (place: number) => number
  view: View
  onView: (view: View) => void
  /** Told which rows are in sight, for whoever fetches them. */
  onSight?: (first: number, last: number) => void
  /** The profile of a column; undefined while it is being counted. */
  profileOf: (column: string) => ColumnProfile | undefined
  /** How many rows that knowledge is about. */
  profiledRows: number
  /** The rows of the view in their order, at most so many of them. */
  collect: (most: number) => Promise<GridRow[]>
  pending: boolean
}

/** The marks of a row: cells that differ, or words in place of a row that is not there. */
export type RowLook = { kind?: string | undefined; says?: string | undefined; marked?: string[] | undefined }

export const fileFormats = ['xlsx', 'csv', 'json', 'ndjson', 'parquet', 'arrow'] as const
export type FileFormat = (typeof fileFormats)[number]

/** The name of a file of the rows, and where the service makes one; without that, of the rows at hand. */
export type Download = { name: string; fetch?: ((format: FileFormat) => Promise<Response>) | undefined }
