import { Code, List, Stack, Text } from '@mantine/core'
import { Card } from '../../parts/card.tsx'
import { Heading } from '../../parts/heading.tsx'
import { Loaded } from '../../parts/loaded.tsx'
import { Ago, Moment } from '../../parts/time.tsx'
import { NotFoundPage } from '../not-found.tsx'
import classes from './deploy.module.css'
import { KeyActs } from './key-acts.tsx'
import { KeyStart, StatusBadge } from './keys.tsx'
import type { Place } from './place.ts'
import { useApiKeys, usePlans, useReach } from './queries.ts'
import { PlainTable } from '../../parts/plain-table.tsx'
import { sayCount, sayNumber } from '../../words.ts'
import type { ApiKey, Plan } from './wire.ts'

/** One key: what it is, what it reaches, and how much. */
export function KeyPage({ place, keyId }: { place: Place; keyId: string }) {
  const keys = useApiKeys()
  return (
    <Loaded query={keys}>
      {(list) => {
        const key = list.find(({ id }) => id === keyId)
        return key === undefined ? <NotFoundPage /> : <KeyFacts place={place} apiKey={key} />
      }}
    </Loaded>
  )
}

function KeyFacts({ place, apiKey: key }: { place: Place; apiKey: ApiKey }) {
  const plans = usePlans()
  const fixed = Object.entries(key.fixed_parameters)
  return (
    <>
      <Heading title={key.name} within={place.project.name} action={<KeyActs apiKey={key} />}>
        <KeyStart apiKey={key} /> <StatusBadge status={key.status} />
      </Heading>
      <Stack gap="lg">
        <Card title="About">
          <dl className={classes['facts']}>
            <dt>Last used</dt>
            <dd>{key.last_used_at === null ? 'never' : <Ago at={key.last_used_at} />}</dd>
            <dt>Made</dt>
            <dd>
              <Moment at={key.created_at} />
            </dd>
            <dt>Good until</dt>
            <dd>{key.expires_at === null ? 'no end' : <Moment at={key.expires_at} />}</dd>
            {key.previous_secret_until !== null && (
              <>
                <dt>Old secret</dt>
                <dd>
                  good until <Moment at={key.previous_secret_until} />
                </dd>
              </>
            )}
            <dt>Plan</dt>
            <dd>{sayPlan(key, plans.data)}</dd>
            <dt>Fixed parameters</dt>
            <dd>
              {fixed.length === 0 ? (
                'none'
              ) : (
                <List spacing={2}>
                  {fixed.map(([name, value]) => (
                    <List.Item key={name}>
                      <Code>
                        {name} = {JSON.stringify(value)}
                      </Code>
                    </List.Item>
                  ))}
                </List>
              )}
            </dd>
          </dl>
        </Card>
        <ReachCard apiKey={key} />
      </Stack>
    </>
  )
}

function ReachCard({ apiKey: key }: { apiKey: ApiKey }) {
  const reach = useReach(key.id)
  return (
    <Card title="What it reaches">
      <Loaded query={reach}>
        {(list) =>
          list.length === 0 ? (
            <Text c="dimmed">
              {key.status === 'active' ? 'Nothing: what it was given is gone.' : `Nothing while it is ${key.status}.`}
            </Text>
          ) : (
            <PlainTable
              label="What it reaches"
              head={['Project', 'Environment', 'Queries']}
              rows={list.flatMap(({ project_name: name, environments }) =>
                environments.map((environment) => [
                  name,
                  environment.name,
                  environment.queries === '*' ? 'all that are deployed there' : environment.queries.join(', '),
                ]),
              )}
            />
          )
        }
      </Loaded>
    </Card>
  )
}

/** How much it may call: the plan, and what it has instead of the plan's limits. */
function sayPlan({ plan, rate_limit: own, daily_quota: quota }: ApiKey, plans: Plan[] | undefined): string {
  const known = plans?.find(({ name }) => name === plan)
  const { per_minute: perMinute, burst } = own ?? known ?? { per_minute: null, burst: null }
  const perDay = quota ?? known?.per_day ?? null
  const limits = [
    perMinute === null ? '' : `${sayCount(perMinute, 'call')} a minute`,
    perMinute === null || burst === null ? '' : `${sayNumber(burst)} at once`,
    perDay === null ? '' : `${sayCount(perDay, 'call')} a day`,
  ].filter((each) => each !== '')
  const itsOwn = own !== null || quota !== null ? ' with limits of its own' : ''
  return `${plan}${itsOwn}: ${limits.length === 0 ? 'no limit' : limits.join(', ')}`
}
