import { Anchor } from '@mantine/core'
import { useIntersection } from '@mantine/hooks'
import type { ReactNode } from 'react'
import { Link } from 'wouter'
import { Sparkline } from '../../parts/sparkline.tsx'
import type { Place } from './place.ts'
import classes from './trends.module.css'
import { useMetrics } from './usage-queries.ts'
import { sayMs, sayShare } from './words.ts'

/** How an endpoint did in the last day. Asked for when it comes into sight: the list may be long. */
export function Trends({ place: { project, environment, to }, name }: { place: Place; name: string }) {
  const { ref, entry } = useIntersection<HTMLDivElement>({ rootMargin: '200px' })
  const seen = entry?.isIntersecting === true
  const metrics = useMetrics(project.id, { environment, query: name }, 24, seen)
  const found = metrics.data
  return (
    <div ref={ref} className={classes.place}>
      {found !== undefined && (
        <dl className={classes.trends}>
          <Trend label="Calls in a day" values={found.series.map(({ requests }) => requests)}>
            <Anchor component={Link} href={withQuery(to('metrics'), name)} size="xs" className="numbers">
              {found.totals.requests.toLocaleString('en')}
            </Anchor>
          </Trend>
          {found.totals.requests > 0 && (
            <>
              <Trend
                label="Errors"
                values={found.series.map(({ requests, error_rate: rate }) => (requests === 0 ? null : rate))}
                bad={found.totals.errors > 0}
              >
                {sayShare(found.totals.error_rate)}
              </Trend>
              <Trend label="95 of 100 within" values={found.series.map(({ p95_ms: ms }) => ms)}>
                {sayMs(found.totals.p95_ms)}
              </Trend>
            </>
          )}
        </dl>
      )}
    </div>
  )
}

type TrendProps = { label: string; values: Array<number | null>; bad?: boolean; children: ReactNode }

function Trend({ label, values, bad = false, children }: TrendProps) {
  return (
    <div className={classes.trend}>
      <dt>{label}</dt>
      <dd className="numbers">
        {children}
        <Sparkline values={values} bad={bad} />
      </dd>
    </div>
  )
}

function withQuery(path: string, name: string): string {
  return `${path}${path.includes('?') ? '&' : '?'}query=${name}`
}
