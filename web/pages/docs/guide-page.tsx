import { useQuery } from '@tanstack/react-query'
import { useEffect, useRef } from 'react'
import { useLocation } from 'wouter'
import { CopyMark } from '../../parts/text/copy.tsx'
import { Heading } from '../../parts/text/heading.tsx'
import { Loaded } from '../../parts/text/loaded.tsx'
import { Scroll } from '../../parts/table/scroll.tsx'
import { atThisAddress } from './at-this-address.ts'
import classes from './docs.module.css'
import type { Guide, GuideHeading, GuidePart } from './guide.ts'

/** Each is a file of its own, fetched when it is opened. */
const files = import.meta.glob<{ guide: Guide }>([
  '../../../docs/*.md',
  '!../../../docs/{README,benchmarks,questions-scoring,releasing}.md',
])

export function GuidePage({ page }: { page: string }) {
  const guide = useQuery({
    queryKey: ['guide', page],
    staleTime: Infinity,
    queryFn: async () => {
      const load = files[`../../../docs/${page}.md`]
      if (load === undefined) throw new Error('This guide is not in the app.')
      return atThisAddress((await load()).guide)
    },
  })
  return <Loaded query={guide}>{(shown) => <Article guide={shown} />}</Loaded>
}

function Article({ guide: { title, headings, parts } }: { guide: Guide }) {
  const article = useRef<HTMLElement>(null)
  useLinks(article)
  return (
    <div className={classes.columns}>
      <article className={classes.guide} ref={article}>
        <Heading title={title} within="Guides" />
        {parts.map((part, at) => (
          // The parts of a page never change their order.
          // oxlint-disable-next-line react/no-array-index-key
          <Part key={at} part={part} number={numberOf(parts, at)} title={title} />
        ))}
      </article>
      <OnThisPage headings={headings} />
    </div>
  )
}

/** The blocks of code are counted by themselves. */
function numberOf(parts: GuidePart[], at: number): number {
  return parts.slice(0, at + 1).filter((part) => !('html' in part)).length
}

function Part({ part, number, title }: { part: GuidePart; number: number; title: string }) {
  // Made when the app was built, of our own pages, in which markup is escaped.
  if ('html' in part) return <div dangerouslySetInnerHTML={{ __html: part.html }} />
  return (
    <div className={classes.block}>
      {part.isAnswer && <p className={classes.caption}>Answer</p>}
      <div className={classes.lines}>
        <Scroll look="code" label={`Code ${number} of ${title}`}>
          {part.code}
        </Scroll>
        <span className={classes.copy}>
          <CopyMark text={part.code} what={`code ${number}`} />
        </span>
      </div>
    </div>
  )
}

function OnThisPage({ headings }: { headings: GuideHeading[] }) {
  const shown = headings.filter(({ depth }) => depth === 2)
  if (shown.length < 2) return null
  return (
    <nav className={classes.headings} aria-label="On this page">
      <p className={classes.group}>On this page</p>
      {shown.map(({ id, text }) => (
        <a key={id} href={`#${id}`}>
          {text}
        </a>
      ))}
    </nav>
  )
}

/** Links between guides change the page as all others of the app do, and an anchor is gone to once its page is there. */
function useLinks(article: React.RefObject<HTMLElement | null>): void {
  const [, navigate] = useLocation()
  useEffect(() => {
    const here = article.current
    if (here === null) return undefined
    const follow = (event: MouseEvent): void => {
      const link = event.target instanceof Element ? event.target.closest('a') : null
      const goesElsewhere = event.button !== 0 || event.metaKey || event.ctrlKey || event.shiftKey || event.altKey
      if (link === null || goesElsewhere || !link.pathname.startsWith('/docs') || link.origin !== location.origin)
        return
      if (link.pathname === location.pathname) return
      event.preventDefault()
      navigate(link.pathname + link.hash)
    }
    here.addEventListener('click', follow)
    // The frame goes to the top of a new page first.
    const frame = requestAnimationFrame(() =>
      document.getElementById(decodeURIComponent(location.hash.slice(1)))?.scrollIntoView(),
    )
    return () => {
      here.removeEventListener('click', follow)
      cancelAnimationFrame(frame)
    }
  }, [article, navigate])
}
