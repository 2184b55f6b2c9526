import { Button, Group, Stack, Text, Title } from '@mantine/core'
import { Radio } from 'lucide-react'
import { useState } from 'react'
import { Link } from 'wouter'
import { Empty } from '../../../parts/text/empty.tsx'
import { Heading } from '../../../parts/text/heading.tsx'
import { Loaded } from '../../../parts/text/loaded.tsx'
import { Growing } from '../../../parts/table/more.tsx'
import { Row, Rows } from '../../../parts/table/rows.tsx'
import { Ago } from '../../../parts/text/time.tsx'
import { paths } from '../../../browser/paths.ts'
import { DeploySheet } from './deploy-sheet.tsx'
import { LiveTable } from './live-table.tsx'
import classes from '../shared/deploy.module.css'
import type { Place } from '../shared/place.ts'
import { useDeployments, useQueryList } from '../shared/queries.ts'
import { Who } from '../shared/who.tsx'
import type { Query } from '../shared/wire.ts'

/** The endpoints of the environment, and queries that could be deployed. */
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
                    <LiveTable place={place} live={live} queries={list} onDeploy={setDeploying} />
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
