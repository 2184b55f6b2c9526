import { Scroll } from '../../../parts/table/scroll.tsx'
import classes from './sql-colours.module.css'
import { sqlParts } from './sql-words.ts'

/** SQL to be read, in the colours in which it was written. */
export function SqlText({ sql, label }: { sql: string; label: string }) {
  return (
    <Scroll look="code" label={label}>
      {sqlParts(sql).map(({ text, kind }, at) =>
        kind === null ? (
          text
        ) : (
          // oxlint-disable-next-line react/no-array-index-key -- a part is its place
          <span key={at} className={classes[kind]}>
            {text}
          </span>
        ),
      )}
    </Scroll>
  )
}
