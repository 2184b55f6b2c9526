import type { ReactNode } from 'react'
import classes from './plain-table.module.css'
import { Scroll } from './scroll.tsx'

const none: string[] = []

/** Rows of whole values, which scroll within their place. */
export function PlainTable({
  label,
  head,
  rows,
  figures = none,
  whole,
  opens = false,
}: {
  label: string
  head: string[]
  rows: ReactNode[][]
  /** Columns of numbers, which stand under one another. */
  figures?: string[]
  /** The column that has a line of its own on a phone, where a row then wraps instead of scrolling sideways. */
  whole?: string
  /** A click anywhere in a row is one on its first button. */
  opens?: boolean
}) {
  const endOf = (name: string | undefined): true | undefined => figures.includes(name ?? '') || undefined
  return (
    <Scroll label={label} look="tall">
      <table aria-label={label} className={classes.table} data-wraps={whole !== undefined || undefined}>
        <thead>
          <tr>
            {head.map((name) => (
              <th key={name} scope="col" data-end={endOf(name)}>
                {name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((cells, row) => (
            // Rows are whole values, drawn anew together.
            // oxlint-disable-next-line react/no-array-index-key
            <tr key={row} data-opens={opens || undefined}>
              {cells.map((cell, at) => (
                <td
                  key={head[at]}
                  data-end={endOf(head[at])}
                  data-whole={(whole !== undefined && head[at] === whole) || undefined}
                  data-name={endOf(head[at]) && head[at]}
                >
                  {cell}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </Scroll>
  )
}
