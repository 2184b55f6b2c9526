import { Button, Stack, Text, Title } from '@mantine/core'
import { Radio } from 'lucide-react'
import { useState } from 'react'
import { Link } from 'wouter'
import { Empty } from '../../../parts/text/empty.tsx'
import { Heading } from '../../../parts/text/heading.tsx'
import { Loaded } from '../../../parts/text/loaded.tsx'
import { List, NameCell, type Column } from '../../../parts/table/list.tsx'
import { Ago } from '../../../parts/text/time.tsx'
import { paths } from '../../../browser/paths.ts'
import { Share } from '../reference/share.tsx'
import { DeploySheet } from '../../query/deploying/deploy-sheet.tsx'
import { LiveTable } from './live-table.tsx'
import type { Place } from '../shared/place.ts'
import { useDeployments } from '../shared/queries.ts'
import { Who } from '../shared/who.tsx'
import type { Query } from '../shared/wire.ts'
import { useQueriesOf } from '../../../client/things.ts'

/** The endpoints of the environment, and queries that could be deployed. */
export function EndpointsPage({ place }: { place: Place }) {
  const { project, environment, editor } = place
  const deployments = useDeployments(project.id)
  const queries = useQueriesOf(project.id)
  const [deploying, setDeploying] = useState<string | null>(null)
  return (
    <>
      <Heading title="Endpoints" within={project.name} action={<Share place={place} />}>
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
                      <Drafts place={place} queries={rest} onDeploy={setDeploying} />
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

type DraftsProps = { place: Place; queries: Query[]; onDeploy: (name: string) => void }

function Drafts({ place, queries, onDeploy }: DraftsProps) {
  return (
    <List
      label={`Not deployed in ${place.environment}`}
      items={queries}
      what="queries"
      keyOf={({ name }) => name}
      opens
      columns={draftColumns({ place, onDeploy })}
    />
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

function draftColumns({ place, onDeploy }: Omit<DraftsProps, 'queries'>): Array<Column<Query>> {
  return [
    {
      label: 'Query',
      whole: true,
      cell: ({ name, description }) => (
        <NameCell href={place.to(`endpoints/${name}/edit`)} name={name} isCode about={description} />
      ),
    },
    {
      label: 'Elsewhere',
      cell: ({ deployments }) => deployments.map((each) => `v${each.version} in ${each.environment}`).join(', '),
    },
    {
      label: 'Edited',
      cell: (query) => (
        <Text component="span" c="dimmed">
          <Ago at={query.updated_at} /> by <Who place={place} label={query.updated_by} />
        </Text>
      ),
    },
    {
      label: '',
      name: 'deploy',
      cell: ({ name }) =>
        place.editor && (
          <Button variant="default" size="compact-sm" onClick={() => onDeploy(name)} aria-label={`Deploy ${name}`}>
            Deploy
          </Button>
        ),
    },
  ]
}
