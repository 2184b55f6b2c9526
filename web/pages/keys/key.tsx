import { Anchor, Code, Group, List, Stack, Text, Title } from '@mantine/core'
import { Link } from 'wouter'
import { Card } from '../../parts/text/card.tsx'
import { Heading } from '../../parts/text/heading.tsx'
import { Loaded } from '../../parts/text/loaded.tsx'
import { Ago, Moment } from '../../parts/text/time.tsx'
import { NotFoundPage } from '../../parts/shell/not-found.tsx'
import classes from '../deploy/shared/deploy.module.css'
import { KeyActs } from './key-acts.tsx'
import { KeyStart, StatusBadge, Tags } from './keys.tsx'
import { KeyMetrics } from '../usage/metrics.tsx'
import type { Place } from '../deploy/shared/place.ts'
import { useDeployments, useKeyAddresses, usePlans, useReach, useVersion } from '../deploy/shared/queries.ts'
import { exampleValues } from '../query/slots/slots.ts'
import { Snippets } from '../query/call/snippets.tsx'
import { PlainTable } from '../../parts/table/list.tsx'
import { useApiKeys } from '../../client/things.ts'
import { sayCount, sayNumber } from '../../text/words.ts'
import type { ApiKey, Plan } from '../deploy/shared/wire.ts'

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
        <KeyStart apiKey={key} /> <StatusBadge status={key.status} /> <Tags tags={key.tags} />
      </Heading>
      <Stack gap="lg">
        <Card title="About">
          <dl className={classes['facts']}>
            <dt>Last used</dt>
            <dd>{key.last_used_at === null ? 'never' : <Ago at={key.last_used_at} />}</dd>
            <dt>Used from</dt>
            <dd>
              <Addresses keyId={key.id} />
            </dd>
            <dt>Made</dt>
            <dd>
              <Moment at={key.created_at} />
            </dd>
            <dt>Expires</dt>
            <dd>{key.expires_at === null ? 'never' : <Moment at={key.expires_at} />}</dd>
            {key.previous_secret_until !== null && (
              <>
                <dt>Old secret</dt>
                <dd>
                  expires <Moment at={key.previous_secret_until} />
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
        <TestCall place={place} apiKey={key} />
        <ReachCard apiKey={key} />
        <section>
          <Group justify="space-between" mb="sm">
            <Title order={2}>Usage in {place.project.name}</Title>
            <Anchor component={Link} href={withKey(place.to('requests'), key.id)}>
              Its calls, one by one
            </Anchor>
          </Group>
          <KeyMetrics place={place} keyId={key.id} />
        </section>
      </Stack>
    </>
  )
}

function withKey(path: string, keyId: string): string {
  return `${path}${path.includes('?') ? '&' : '?'}key=${keyId}`
}

/** From where it was called lately. */
function Addresses({ keyId }: { keyId: string }) {
  const addresses = useKeyAddresses(keyId)
  const list = addresses.data ?? []
  if (list.length === 0) return addresses.data === undefined ? '' : 'nowhere yet'
  return (
    <List spacing={2} listStyleType="none" aria-label="Addresses">
      {list.map(({ address, last_used_at: at }) => (
        <List.Item key={address}>
          <Code>{address}</Code>{' '}
          <Text component="span" size="xs" c="dimmed">
            <Ago at={at} />
          </Text>
        </List.Item>
      ))}
    </List>
  )
}

/** A call that works with this key, to be pasted where it is tried out. */
function TestCall({ place: { project, environment }, apiKey }: { place: Place; apiKey: ApiKey }) {
  const reach = useReach(apiKey.id)
  const deployments = useDeployments(project.id)
  const reached = reach.data?.find(({ project_id: id }) => id === project.id)?.environments ?? []
  const here = reached.find(({ name }) => name === environment) ?? reached.find(({ deployed }) => deployed.length > 0)
  const name = here?.deployed[0]
  const live = deployments.data?.find((each) => each.name === name && each.environment === here?.name)
  const version = useVersion({ projectId: project.id, name: name ?? '' }, live?.version)
  if (here === undefined || name === undefined || version.data === undefined) return null
  const { slots, examples } = version.data
  const fixed = Object.keys(apiKey.fixed_parameters)
  const values = Object.entries(exampleValues(slots, examples[0]?.parameters)).filter(([slot]) => !fixed.includes(slot))
  return (
    <Card title="A call with it" about={`Put its secret into the environment as SLUICE_API_KEY. It calls ${name}.`}>
      <Snippets
        target={{ kind: 'direct', projectId: project.id, environment: here.name, name }}
        body={Object.fromEntries(values)}
      />
    </Card>
  )
}

function ReachCard({ apiKey: key }: { apiKey: ApiKey }) {
  const reach = useReach(key.id)
  return (
    <Card title="Access">
      <Loaded query={reach}>
        {(list) =>
          list.length === 0 ? (
            <Text c="dimmed">
              {key.status === 'active' ? 'Nothing: what it was given is gone.' : `Nothing while it is ${key.status}.`}
            </Text>
          ) : (
            <PlainTable
              label="Access"
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
    perMinute === null || burst === null ? '' : `burst ${sayNumber(burst)}`,
    perDay === null ? '' : `${sayCount(perDay, 'call')} a day`,
  ].filter((each) => each !== '')
  const itsOwn = own !== null || quota !== null ? ' with limits of its own' : ''
  return `${plan}${itsOwn}: ${limits.length === 0 ? 'no limit' : limits.join(', ')}`
}
