import { useEffect, useRef, type ReactNode } from 'react'
import { Link } from 'wouter'
import type { Section } from '../../client/sections.ts'
import classes from './rail.module.css'

type Props<Name extends string> = {
  label: string
  sections: Array<Section<Name>>
  /** The page that is shown, or the one it belongs to. */
  current: string
  to: (section: Name) => string
  /** Whether the page is one of those that share an entry, and not one further in. */
  isPart?: boolean
  children: ReactNode
}

/** The pages of a tab on the left, the one that is shown beside them; pages that share an entry are named above it. */
export function Rail<Name extends string>({ label, sections, current, to, isPart = true, children }: Props<Name>) {
  const rail = useRef<HTMLElement>(null)
  const at = sections.findIndex(
    ({ section, parts = [] }) => section === current || parts.some((part) => part.section === current),
  )
  const { label: title, parts = [] } = sections[at] ?? { label }
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
        {sections.map(({ section, label: name, icon: Icon }, place) => (
          <Link
            key={section}
            href={to(section)}
            className={classes.entry}
            aria-current={place === at ? (section === current ? 'page' : 'true') : undefined}
          >
            <Icon size={16} aria-hidden />
            {name}
          </Link>
        ))}
      </nav>
      <div className={classes.content}>
        {isPart && parts.length > 0 && (
          <nav className={classes.parts} aria-label={`Pages of ${title}`}>
            {parts.map(({ section, label: name }) => (
              <Link
                key={section}
                href={to(section)}
                className={classes.part}
                aria-current={section === current ? 'page' : undefined}
              >
                {name}
              </Link>
            ))}
          </nav>
        )}
        {children}
      </div>
    </div>
  )
}
