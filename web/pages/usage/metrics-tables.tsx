import { Code, Text } from '@mantine/core'
import { Link } from 'wouter'
import { Card } from '../../parts/text/card.tsx'
import { PlainTable } from '../../parts/table/list.tsx'
import { sayNumber } from '../../text/words.ts'
import classes from '../deploy/shared/deploy.module.css'
import type { Place } from '../deploy/shared/place.ts'
import type { Metrics } from '../deploy/shared/usage-wire.ts'
import { sayMs, sayShare } from '../deploy/shared/words.ts'
import { sayFailure } from './failure-words.ts'

export function Popular({ place, metrics: { popular_queries: popular } }: { place: Place; metrics: Metrics }) {
  return (
    <Card title="Popular queries">
      {popular.length === 0 ? (
        <Text c="dimmed">Nothing was called in this time.</Text>
      ) : (
        <PlainTable
          label="Popular queries"
          head={['Query', 'Calls', 'Errors', 'Average', 'p95']}
          figures={['Calls', 'Errors', 'Average', 'p95']}
          whole="Query"
          rows={popular.map((each) => [
            <Link key={each.query} href={place.to(`endpoints/${each.query}`)} className={classes['name'] ?? ''}>
              {each.query}
            </Link>,
            each.requests.toLocaleString('en'),
            sayShare(each.error_rate),
            sayMs(each.average_ms),
            sayMs(each.p95_ms),
          ])}
        />
      )}
    </Card>
  )
}

/** Keys that called, and how many of their calls were rejected. */
export function Callers({ place, metrics: { by_key: keys } }: { place: Place; metrics: Metrics }) {
  if (keys.length === 0) return null
  const isOwner = place.project.role === 'owner'
  const figures = ['Calls', 'Errors', 'Rejected', 'Average']
  return (
    <Card title="Keys" about="Keys that called. Rejected calls lacked a permission or exceeded a rate limit.">
      <PlainTable
        label="Keys"
        head={['Key', ...figures]}
        figures={figures}
        whole="Key"
        rows={keys.map(({ key_id: id, name, requests, error_rate: errors, rejected, average_ms: average }) => [
          isOwner ? (
            <Link key={id} href={place.to(`keys/${id}`)}>
              {name ?? id}
            </Link>
          ) : (
            (name ?? id)
          ),
          sayNumber(requests),
          sayShare(errors),
          sayNumber(rejected),
          sayMs(average),
        ])}
      />
    </Card>
  )
}

/** Why calls failed, those that failed most first, each the way to its calls: `wayTo` adds to what is chosen already. */
export function Errors({ metrics: { errors }, wayTo }: { metrics: Metrics; wayTo: (more: CallsFilter) => string }) {
  if (errors.length === 0) return null
  return (
    <Card title="What went wrong">
      <PlainTable
        label="What went wrong"
        head={['Why', 'Code', 'Calls', 'Which']}
        figures={['Calls']}
        whole="Why"
        rows={errors.map((each) => [
          sayFailure(each),
          <Code key="code">
            {each.status} {each.reason ?? each.error}
          </Code>,
          sayNumber(each.count),
          <Link
            key="which"
            href={wayTo({ status: String(each.status), error: each.error })}
            aria-label={`Show calls: ${each.reason ?? each.error}`}
          >
            Show calls
          </Link>,
        ])}
      />
    </Card>
  )
}

type CallsFilter = Record<string, string>
