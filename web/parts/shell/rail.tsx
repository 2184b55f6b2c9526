import { useEffect, useRef, type ReactNode } from 'react'
import { Link } from 'wouter'
import type { Section } from '../../client/sections.ts'
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
  const rail = useRef<HTMLElement>(null)
  const at = sections.findIndex(({ section }) => section === current)
  useEffect(() => {
    // On a phone the entries are one line that scrolls: the one that is shown stands in the middle of it.
    const centre = (): void => {
      const place = rail.current
      const entry = place?.children[at]
      if (place === null || !(entry instanceof HTMLElement)) return
      place.scrollLeft = entry.offsetLeft - place.offsetLeft - (place.clientWidth - entry.clientWidth) / 2
    }
    centre()
    addEventListener('resize', centre)
    return () => removeEventListener('resize', centre)
  }, [at])
  return (
    <div className={classes.page}>
      <nav ref={rail} className={classes.rail} aria-label={label}>
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
