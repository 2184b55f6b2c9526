import { Button, Group, PasswordInput, Stack, Text } from '@mantine/core'
import { useMutation, useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { useSearch } from 'wouter'
import { call as callApi } from '../../../client/api.ts'
import { useFragment } from '../../../browser/fragment.ts'
import { Heading } from '../../../parts/text/heading.tsx'
import { RefusalNotice } from '../../../parts/text/refusal.tsx'
import { PublicShell } from '../../../parts/shell/shell.tsx'
import { CallForm } from '../../query/call/call-form.tsx'
import { DescribedQueries } from './described-queries.tsx'
import { readQueries, type DescribedQuery, type ProjectDocument } from './project-document.ts'
import { headersOf, pathOf, type CallTarget } from '../../query/call/snippet-text.ts'
import { Snippets } from '../../query/call/snippets.tsx'

/**
 * The reference of a project, for a holder of an API key without an account, or of an owner's link. Calling takes a key,
 * which is forgotten with the page.
 */
export function SharedReferencePage({ projectId }: { projectId: string }) {
  const environment = new URLSearchParams(useSearch()).get('environment')
  const [key, setKey] = useState('')
  const asked = environment === null ? '' : `?environment=${encodeURIComponent(environment)}`
  const opened = useMutation({
    mutationFn: async (given: string) => {
      const path = `/v1/projects/${encodeURIComponent(projectId)}/openapi.json${asked}`
      const headers = { Authorization: `Bearer ${given}` }
      return { key: given, document: await callApi<ProjectDocument>('GET', path, { headers, open: true }) }
    },
  })
  const token = useFragment()
  const byLink = useQuery({
    queryKey: ['shared-reference', token],
    queryFn: () => callApi<ProjectDocument>('POST', '/v1/shared-references/read', { body: { token }, open: true }),
    enabled: token !== '',
    retry: false,
    staleTime: Infinity,
  })
  const shown = opened.data?.document ?? byLink.data
  return (
    <PublicShell wide>
      <Stack gap="lg" maw="68rem" mx="auto">
        <Heading title={shown?.info.title ?? 'Reference'} within="Reference">
          {aboutPage(opened.data !== undefined, byLink.data !== undefined)}
        </Heading>
        <form
          onSubmit={(event) => {
            event.preventDefault()
            opened.mutate(key)
          }}
        >
          <Group align="flex-end" gap="sm">
            <PasswordInput
              label="API key"
              visibilityToggleButtonProps={{ 'aria-label': 'Show the key' }}
              placeholder="slc_live_…"
              autoComplete="off"
              spellCheck={false}
              value={key}
              onChange={(event) => setKey(event.currentTarget.value.trim())}
              w="22rem"
              maw="100%"
            />
            <Button type="submit" disabled={key === ''} loading={opened.isPending}>
              Show
            </Button>
          </Group>
        </form>
        <RefusalNotice error={opened.error ?? byLink.error} />
        {shown !== undefined && (
          <DescribedQueries queries={readQueries(shown)}>
            {(query) =>
              opened.data === undefined ? (
                <Text c="dimmed">Enter an API key above to call it here.</Text>
              ) : (
                <KeyedCall query={query} apiKey={opened.data.key} />
              )
            }
          </DescribedQueries>
        )}
      </Stack>
    </PublicShell>
  )
}

function aboutPage(hasKey: boolean, hasLink: boolean): string {
  if (hasKey)
    return 'What your key reaches. Each is called by POST with its slots as JSON, or by GET with them in the address.'
  if (hasLink) return 'What is deployed here. Reading it takes the link alone; calling takes an API key.'
  return 'What you can call here is shown for your API key. It goes to this service alone, and is forgotten with the page.'
}

function KeyedCall({ query, apiKey }: { query: DescribedQuery; apiKey: string }) {
  const { name, slots, examples, projectId, environment } = query
  const target: CallTarget = { kind: 'direct', projectId, environment, name }
  return (
    <CallForm
      name={name}
      slots={slots}
      values={examples[0]?.parameters}
      request={(body) => ({ path: pathOf(target), headers: headersOf(target), body, key: apiKey })}
    >
      {(body) => <Snippets target={target} body={body} />}
    </CallForm>
  )
}
