import type { LucideIcon } from 'lucide-react'
import type { ReactNode } from 'react'
import { Link } from 'wouter'
import classes from './rail.module.css'

type Entry = { label: string; icon: LucideIcon; to: string; current: boolean }

/** The pages of a tab on the left, the one that is shown beside them. */
export function Rail({
  label,
  entries,
  wide = false,
  children,
}: {
  label: string
  entries: Entry[]
  /** For pages of two panes. */
  wide?: boolean
  children: ReactNode
}) {
  return (
    <div className={classes.page} data-wide={wide || undefined}>
      <nav className={classes.rail} aria-label={label}>
        {entries.map(({ label: name, icon: Icon, to, current }) => (
          <Link
            key={name}
            ref={current ? keepInSight : undefined}
            href={to}
            className={classes.entry}
            aria-current={current ? 'page' : undefined}
          >
            <Icon size={16} aria-hidden />
            {name}
          </Link>
        ))}
      </nav>
      <div className={classes.content}>{children}</div>
    </div>
  )
}

/** On a narrow screen the rail scrolls sideways. */
function keepInSight(entry: HTMLElement | null): void {
  entry?.scrollIntoView({ block: 'nearest', inline: 'center' })
}
