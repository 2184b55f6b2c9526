import { useState } from 'react'
import { Link } from 'wouter'
import { Heading } from '../../parts/text/heading.tsx'
import { Loaded } from '../../parts/text/loaded.tsx'
import { PublicShell, Shell } from '../../parts/shell/shell.tsx'
import { paths } from '../../browser/paths.ts'
import { useSession } from '../../client/queries.ts'
import { callsPage, contents, entries } from '../../text/contents.ts'
import classes from './docs.module.css'
import { GuidePage } from './guide-page.tsx'
import { Reference } from './reference.tsx'
import { Search } from './search.tsx'

/** Everything under `/docs`. Anybody may read it; who is signed in keeps the frame of the app around it. */
export function DocsPages({ page }: { page: string }) {
  const session = useSession()
  return (
    <Loaded query={session} waiting={null}>
      {(user) => {
        const Frame = user === null ? PublicShell : Shell
        return (
          <Frame wide>
            <div className={classes.page}>
              <Contents current={page} />
              <div className={classes.content}>
                <Shown page={page} />
              </div>
            </div>
          </Frame>
        )
      }}
    </Loaded>
  )
}

function Shown({ page }: { page: string }) {
  if (page === '') return <Overview />
  if (page === callsPage) return <Reference />
  if (entries.some((entry) => entry.page === page)) return <GuidePage page={page} key={page} />
  return (
    <Heading title="There is nothing here" within="Guides">
      No guide has this address. The list of guides has all that there are, and the search looks into each.
    </Heading>
  )
}

/** On a narrow screen the list is folded away, and folds itself away once one is chosen. */
function Contents({ current }: { current: string }) {
  const [isOpen, setIsOpen] = useState(false)
  return (
    <div className={classes.side}>
      <Search />
      <button type="button" className={classes.unfold} aria-expanded={isOpen} onClick={() => setIsOpen(!isOpen)}>
        All guides
      </button>
      <nav aria-label="Guides" className={classes.list} data-open={isOpen || undefined}>
        {contents.map(({ name, entries: group }) => (
          <section key={name} aria-label={name}>
            <p className={classes.group}>{name}</p>
            {group.map(({ page, title }) => (
              <Link
                key={page}
                href={paths.docs(page)}
                aria-current={page === current ? 'page' : undefined}
                onClick={() => setIsOpen(false)}
              >
                {title}
              </Link>
            ))}
          </section>
        ))}
      </nav>
    </div>
  )
}

function Overview() {
  return (
    <>
      <Heading title="Guides" within="Docs">
        HTTP APIs flow in as data; questions and calls flow out as answers.
      </Heading>
      <div className={classes.overview}>
        {contents.map(({ name, entries: group }) => (
          <section key={name}>
            <h2>{name}</h2>
            <ul>
              {group.map(({ page, title, about }) => (
                <li key={page}>
                  <Link href={paths.docs(page)}>{title}</Link>
                  <span>{about}</span>
                </li>
              ))}
            </ul>
          </section>
        ))}
      </div>
    </>
  )
}
