import classes from './simple-table.module.css'
import type { Column, Row } from './wire.ts'
import { isNumeric, sayType, sayValue } from '../../words.ts'

/** A few rows as they would be stored, with the type of each column under its name. */
export function SimpleTable({ label, columns, rows }: { label: string; columns: Column[]; rows: Row[] }) {
  return (
    // oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex -- what scrolls must be reachable by the keyboard
    <section className={classes.scroll} aria-label={label} tabIndex={0}>
      <table className={classes.table}>
        <thead>
          <tr>
            {columns.map(({ name, type }) => (
              <th key={name} scope="col" data-end={isNumeric(type) || undefined}>
                {name}
                <span className={classes.type}>{sayType(type)}</span>
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row, index) => (
            // oxlint-disable-next-line react/no-array-index-key -- rows have no name of their own and never move
            <tr key={index}>
              {columns.map(({ name, type }) => (
                <td key={name} data-end={isNumeric(type) || undefined} title={sayValue(row[name])}>
                  {row[name] === null || row[name] === undefined ? (
                    <span className={classes.none}>null</span>
                  ) : (
                    sayValue(row[name])
                  )}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  )
}
