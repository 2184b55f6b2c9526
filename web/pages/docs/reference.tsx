import { Anchor, Stack, Text, TextInput, Title } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Search } from 'lucide-react'
import { useDeferredValue, useState } from 'react'
import { call } from '../../client/api.ts'
import { Heading } from '../../parts/text/heading.tsx'
import { Loaded } from '../../parts/text/loaded.tsx'
import { Fields, OperationDetails } from './operation.tsx'
import { readChapters, type Chapter, type OpenApi, type Operation } from './openapi.ts'

/** Every call there is, from the document that describes this very server. */
export function Reference() {
  const chapters = useQuery({
    queryKey: ['openapi'],
    staleTime: Infinity,
    queryFn: async ({ signal }) => readChapters(await call<OpenApi>('GET', '/v1/openapi.json', { signal })),
  })
  const [sought, setSought] = useState('')
  const words = useDeferredValue(sought).trim().toLowerCase()
  return (
    <>
      <Heading title="Every call by field" within="Guides">
        Everything the app does can be done by calls. The same as an OpenAPI document:{' '}
        <Anchor href="/v1/openapi.json" underline="always">
          /v1/openapi.json
        </Anchor>
      </Heading>
      <Loaded query={chapters}>
        {(list) => (
          <Stack gap="xl">
            <TextInput
              aria-label="Find a call"
              placeholder="Find a call"
              leftSection={<Search size={16} aria-hidden />}
              value={sought}
              onChange={(event) => setSought(event.currentTarget.value)}
              maw="24rem"
            />
            <Chapters chapters={matching(list, words)} />
          </Stack>
        )}
      </Loaded>
    </>
  )
}

function matching(chapters: Chapter[], words: string): Chapter[] {
  return chapters
    .map((chapter) => ({
      ...chapter,
      operations: chapter.operations.filter(({ id, summary }) => `${id} ${summary}`.toLowerCase().includes(words)),
    }))
    .filter(({ operations }) => operations.length > 0)
}

function Chapters({ chapters }: { chapters: Chapter[] }) {
  if (chapters.length === 0) return <Text c="dimmed">No call is named like that.</Text>
  return chapters.map(({ name, about, operations }) => (
    <section key={name} aria-label={name}>
      <Title order={2} tt="capitalize">
        {name}
      </Title>
      <Text c="dimmed" mb="sm">
        {about}
      </Text>
      {operations.map((operation) => (
        <Entry key={operation.id} operation={operation} />
      ))}
    </section>
  ))
}

function Entry({ operation: { method, path, summary, description, sends, gets } }: { operation: Operation }) {
  return (
    <OperationDetails method={method} path={path} summary={summary}>
      {description !== '' && <Text>{description}</Text>}
      <Fields label={`Sent to ${method} ${path}`} title="It takes" certain="required" fields={sends} />
      <Fields label={`Answer of ${method} ${path}`} title="It answers" certain="always" fields={gets} />
    </OperationDetails>
  )
}
