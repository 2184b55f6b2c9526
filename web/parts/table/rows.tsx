import type { ReactNode } from 'react'
import classes from './rows.module.css'

/** A list in a card: one line each, which wraps where there is no room. */
export function Rows({ label, children }: { label: string; children: ReactNode }) {
  return (
    <ul className={classes.rows} aria-label={label}>
      {children}
    </ul>
  )
}

export function Row({ lead, children, end }: { lead?: ReactNode; children: ReactNode; end?: ReactNode }) {
  return (
    <li className={classes.row}>
      {lead !== undefined && (
        <div className={classes.lead} aria-hidden>
          {lead}
        </div>
      )}
      <div className={classes.body}>{children}</div>
      {end !== undefined && <div className={classes.end}>{end}</div>}
    </li>
  )
}
