import { Badge, Button, Group, Stack, Text, Title, Tooltip } from '@mantine/core'
import { Radio } from 'lucide-react'
import { useState } from 'react'
import { Link } from 'wouter'
import { Empty } from '../../parts/empty.tsx'
import { Heading } from '../../parts/heading.tsx'
import { Loaded } from '../../parts/loaded.tsx'
import { Growing } from '../../parts/more.tsx'
import { Row, Rows } from '../../parts/rows.tsx'
import { Ago } from '../../parts/time.tsx'
import { paths } from '../../paths.ts'
import { DeploySheet } from './deploy-sheet.tsx'
import classes from './deploy.module.css'
import type { Place } from './place.ts'
import { useDeployments, useQueryList } from './queries.ts'
import { Trends } from './trends.tsx'
import { Who } from './who.tsx'
import type { LiveDeployment, Query } from './wire.ts'

/** What answers in the environment, and what could. */
export function EndpointsPage({ place }: { place: Place }) {
  const { project, environment, editor } = place
  const deployments = useDeployments(project.id)
  const queries = useQueryList(project.id)
  const [deploying, setDeploying] = useState<string | null>(null)
  return (
    <>
      <Heading title="Endpoints" within={project.name}>
        What answers in {environment}.{' '}
        {editor
          ? 'Callers get the version that is deployed here, whatever happens to the draft.'
          : 'You are a viewer here. Editors deploy, roll back and undeploy.'}
      </Heading>
      <Loaded query={deployments}>
        {(everywhere) => (
          <Loaded query={queries}>
            {(list) => {
              const live = everywhere.filter((each) => each.environment === environment)
              const rest = list.filter(({ name }) => !live.some((each) => each.name === name))
              if (list.length === 0) return <NoQueries place={place} />
              return (
                <Stack gap="xl">
                  {live.length === 0 ? (
                    <Empty icon={<Radio size={20} />} guide="release-safely">
                      Nothing answers in {environment} yet. Deploy one of the queries below, and it has an address at
                      once.
                    </Empty>
                  ) : (
                    <Growing items={live} what="endpoints">
                      {(shown) => (
                        <Rows label={`Deployed in ${environment}`}>
                          {shown.map((each) => (
                            <LiveRow
                              key={each.name}
                              place={place}
                              live={each}
                              query={list.find(({ name }) => name === each.name)}
                              onDeploy={() => setDeploying(each.name)}
                            />
                          ))}
                        </Rows>
                      )}
                    </Growing>
                  )}
                  {rest.length > 0 && (
                    <section>
                      <Title order={2} mb="sm">
                        Not deployed in {environment}
                      </Title>
                      <Growing items={rest} what="queries">
                        {(shown) => (
                          <Rows label={`Not deployed in ${environment}`}>
                            {shown.map((query) => (
                              <DraftRow key={query.name} place={place} query={query} onDeploy={setDeploying} />
                            ))}
                          </Rows>
                        )}
                      </Growing>
                    </section>
                  )}
                </Stack>
              )
            }}
          </Loaded>
        )}
      </Loaded>
      {deploying !== null && (
        <DeploySheet
          projectId={project.id}
          name={deploying}
          move={{ kind: 'deploy', environment }}
          onClose={() => setDeploying(null)}
        />
      )}
    </>
  )
}

function LiveRow({
  place,
  live,
  query,
  onDeploy,
}: {
  place: Place
  live: LiveDeployment
  query: Query | undefined
  onDeploy: () => void
}) {
  const newer = isNewer(query, live)
  return (
    <Row
      end={
        <>
          {newer && <ChangedMark />}
          <Badge variant="default" tt="none" radius="sm" fw={500} className="numbers">
            v{live.version}
          </Badge>
          {place.editor && newer && (
            <Button variant="default" size="xs" onClick={onDeploy} aria-label={`Deploy ${live.name} again`}>
              Deploy
            </Button>
          )}
        </>
      }
    >
      <Link href={place.to(`endpoints/${live.name}`)} className={classes['name'] ?? ''}>
        {live.name}
      </Link>
      {live.description !== '' && <Text lineClamp={1}>{live.description}</Text>}
      <Text size="xs" c="dimmed">
        deployed by <Who place={place} label={live.deployed_by} /> <Ago at={live.deployed_at} />
      </Text>
      <Trends place={place} name={live.name} />
    </Row>
  )
}

/** Whether what would be deployed now is not what is live; the page of the endpoint compares the two word by word. */
function isNewer(query: Query | undefined, live: LiveDeployment): boolean {
  if (query === undefined) return false
  return query.changed || query.deployments.some(({ version }) => version > live.version)
}

export function ChangedMark() {
  return (
    <Tooltip label="The draft is not what callers get here.">
      <Badge variant="light" color="yellow" tt="none" radius="sm" c="var(--mantine-color-text)" tabIndex={0}>
        Changed since
      </Badge>
    </Tooltip>
  )
}

function DraftRow({ place, query, onDeploy }: { place: Place; query: Query; onDeploy: (name: string) => void }) {
  const elsewhere = query.deployments.map(({ environment, version }) => `v${version} in ${environment}`)
  return (
    <Row
      end={
        place.editor && (
          <Button variant="default" size="xs" onClick={() => onDeploy(query.name)} aria-label={`Deploy ${query.name}`}>
            Deploy
          </Button>
        )
      }
    >
      <Group gap="xs">
        <Link href={place.to(`endpoints/${query.name}`)} className={classes['name'] ?? ''}>
          {query.name}
        </Link>
      </Group>
      <Text size="xs" c="dimmed">
        {elsewhere.length > 0 ? `${elsewhere.join(', ')} · ` : 'Draft · '}
        edited by <Who place={place} label={query.updated_by} /> <Ago at={query.updated_at} />
      </Text>
    </Row>
  )
}

function NoQueries({ place: { project, editor } }: { place: Place }) {
  return (
    <Empty
      icon={<Radio size={20} />}
      action={
        editor && (
          <Button component={Link} href={`${paths.project(project.id)}/build`}>
            Go to Build
          </Button>
        )
      }
    >
      A query becomes an endpoint when it is deployed. This project has no queries yet: write one in Build.
    </Empty>
  )
}
