import { useState } from 'react'
import classes from './deploy.module.css'
import { Scroll } from './scroll.tsx'

type RowValues = Record<string, unknown>

const rowHeightPx = 32
/** Rows drawn: some screens full, so that scrolling does not show the edge. */
const drawn = 60

/** Rows of an answer. Only those in sight are drawn: a hundred thousand scroll like ten. */
export function Grid({ rows, label }: { rows: RowValues[]; label: string }) {
  const [topPx, setTopPx] = useState(0)
  const columns = Object.keys(rows[0] ?? {})
  const first = Math.max(0, Math.min(Math.floor(topPx / rowHeightPx) - 15, rows.length - drawn))
  const shown = rows.slice(first, first + drawn)
  const below = rows.length - first - shown.length
  return (
    <Scroll
      look="grid"
      label={label}
      onScroll={(event) => {
        const scrolled = event.currentTarget.scrollTop
        // Drawing again on every pixel would cost the smoothness that this is for.
        if (Math.abs(scrolled - topPx) > rowHeightPx * 8) setTopPx(scrolled)
      }}
    >
      <table aria-rowcount={rows.length + 1}>
        <thead>
          <tr>
            {columns.map((name) => (
              <th key={name} scope="col" data-kind={kindOf(rows[0]?.[name])}>
                {name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          <Gap rows={first} columns={columns.length} />
          {shown.map((row, at) => (
            // A row is its place: rows have no name, and an answer is never changed in place.
            // oxlint-disable-next-line react/no-array-index-key
            <tr key={first + at} aria-rowindex={first + at + 2}>
              {columns.map((name) => (
                <td key={name} data-kind={kindOf(row[name])} title={say(row[name])}>
                  {say(row[name])}
                </td>
              ))}
            </tr>
          ))}
          <Gap rows={below} columns={columns.length} />
        </tbody>
      </table>
    </Scroll>
  )
}

/** Stands for rows that are not drawn. */
function Gap({ rows, columns }: { rows: number; columns: number }) {
  if (rows <= 0) return null
  return (
    <tr className={classes['gap']} aria-hidden>
      {/* oxlint-disable-next-line jsx-a11y/control-has-associated-label */}
      <td colSpan={columns} style={{ height: rows * rowHeightPx }} />
    </tr>
  )
}

function kindOf(value: unknown): 'number' | 'nothing' | 'text' {
  return typeof value === 'number' ? 'number' : value === null || value === undefined ? 'nothing' : 'text'
}

function say(value: unknown): string {
  if (value === null || value === undefined) return 'null'
  return typeof value === 'string' ? value : JSON.stringify(value)
}
