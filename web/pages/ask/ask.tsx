import { Button } from '@mantine/core'
import { MessageCircleQuestion } from 'lucide-react'
import { Link, useLocation, useSearch } from 'wouter'
import { askPath, paths } from '../../browser/paths.ts'
import type { Project } from '../../client/wire.ts'
import { Shell } from '../../parts/shell/shell.tsx'
import { Empty } from '../../parts/text/empty.tsx'
import { Heading } from '../../parts/text/heading.tsx'
import { Loaded } from '../../parts/text/loaded.tsx'
import { EnvironmentSwitch } from '../deploy/shared/environment-switch.tsx'
import { usePlace } from '../deploy/shared/place.ts'
import { useDeployments } from '../deploy/shared/queries.ts'
import { Thread } from './thread.tsx'

/** Questions in plain language to everything that is deployed. The first of a thread is in the address, to be sent on. */
export function AskPage({ project }: { project: Project }) {
  const place = usePlace(project)
  const { environment } = place
  const [, navigate] = useLocation()
  const question = new URLSearchParams(useSearch()).get('question') ?? ''
  const deployments = useDeployments(project.id)
  return (
    <Shell project={project} environment={<EnvironmentSwitch place={place} />}>
      <Heading title="Ask" within={project.name}>
        A question in plain words is answered by a query that is deployed in {environment}, or not at all.
      </Heading>
      <Loaded query={deployments}>
        {(list) => {
          const live = list.filter((each) => each.environment === environment)
          return live.length === 0 ? (
            <Empty
              icon={<MessageCircleQuestion size={20} />}
              guide="ask-questions"
              action={
                <Button component={Link} href={paths.queries(project.id)} variant="default">
                  Go to queries
                </Button>
              }
            >
              Nothing is deployed in {environment} yet. Deployed queries answer questions here.
            </Empty>
          ) : (
            <Thread
              key={environment}
              place={place}
              live={live}
              first={question}
              onAsk={(asked) => navigate(askPath(project.id, environment, asked), { replace: true })}
            />
          )
        }}
      </Loaded>
    </Shell>
  )
}
