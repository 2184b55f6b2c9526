import { Anchor, Group, Stack, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { BookOpen } from 'lucide-react'
import { call } from '../../../client/api.ts'
import { CopyMark } from '../../../parts/text/copy.tsx'
import { Empty } from '../../../parts/text/empty.tsx'
import { Heading } from '../../../parts/text/heading.tsx'
import { Loaded } from '../../../parts/text/loaded.tsx'
import { paths } from '../../../browser/paths.ts'
import { DescribedQueries } from './described-queries.tsx'
import type { Place } from '../shared/place.ts'
import { readQueries, type ProjectDocument } from './project-document.ts'
import { useDeployments } from '../shared/queries.ts'
import { ShareReference } from './share-reference.tsx'
import { Console } from '../try/try.tsx'

/** The deployed queries as their callers see them. */
export function ReferencePage({ place }: { place: Place }) {
  const { project, environment } = place
  const address = `/v1/projects/${project.id}/openapi.json?environment=${environment}`
  const document = useQuery({
    queryKey: ['projects', project.id, 'reference', environment],
    // A release changes it, here or elsewhere.
    staleTime: 0,
    queryFn: ({ signal }) => call<ProjectDocument>('GET', address, { signal }),
  })
  const link = `${location.origin}${paths.reference(project.id, environment)}`
  return (
    <>
      <Heading title="Reference" within={project.name}>
        What is deployed in {environment}, for whoever calls it. The same as an OpenAPI document:{' '}
        <Anchor href={address} underline="always">
          openapi.json
        </Anchor>
      </Heading>
      <Stack gap="lg">
        <Group gap="xs">
          <Text>For callers, who open it with their API key:</Text>
          <Anchor href={link} underline="always" style={{ overflowWrap: 'anywhere' }}>
            {link}
          </Anchor>
          <CopyMark text={link} what="link" />
        </Group>
        <ShareReference place={place} />
        <Loaded query={document}>{(found) => <Queries place={place} document={found} />}</Loaded>
      </Stack>
    </>
  )
}

function Queries({ place, document }: { place: Place; document: ProjectDocument }) {
  const live = useDeployments(place.project.id).data ?? []
  const queries = readQueries(document)
  if (queries.length === 0) {
    return (
      <Empty icon={<BookOpen size={20} />} guide="release-safely">
        Nothing is deployed in {place.environment} yet. What is stands here at once.
      </Empty>
    )
  }
  const versionOf = (name: string): number | null =>
    live.find((each) => each.name === name && each.environment === place.environment)?.version ?? null
  return (
    <DescribedQueries queries={queries}>
      {({ name }) => live.length > 0 && <Console place={place} name={name} version={versionOf(name)} />}
    </DescribedQueries>
  )
}
