import type { ReactNode } from 'react'
import { Link } from 'wouter'
import type { Section } from '../sections.ts'
import classes from './rail.module.css'

type Props<Name extends string> = {
  label: string
  sections: Array<Section<Name>>
  /** The one that is shown. */
  current: string
  to: (section: Name) => string
  children: ReactNode
}

/** The pages of a tab on the left, the one that is shown beside them. */
export function Rail<Name extends string>({ label, sections, current, to, children }: Props<Name>) {
  return (
    <div className={classes.page}>
      <nav className={classes.rail} aria-label={label}>
        {sections.map(({ section, label: name, icon: Icon }) => (
          <Link
            key={section}
            href={to(section)}
            className={classes.entry}
            aria-current={section === current ? 'page' : undefined}
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
