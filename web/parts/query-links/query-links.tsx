import { Button, Group, Stack, Text } from '@mantine/core'
import { Link2 } from 'lucide-react'
import { useState } from 'react'
import { call } from '../../client/api.ts'
import { keys, useAct, usePages, useProject } from '../../client/queries.ts'
import type { Project, QueryLink } from '../../client/wire.ts'
import { AskFirst, Confirm } from '../form/confirm.tsx'
import { PlainTable } from '../table/list.tsx'
import { Card } from '../text/card.tsx'
import { Ago, Day } from '../text/time.tsx'
import { NewLinkDialog } from './new-link-dialog.tsx'

type Props = {
  projectId: string
  environment: string
  query: string
  /** Values that a new link begins with. */
  parameters: Record<string, unknown>
}

/** Links by which a spreadsheet reads this query: for owners, off until they allow them. */
export function QueryLinks({ projectId, environment, query, parameters }: Props) {
  const project = useProject(projectId)
  const [making, setMaking] = useState(false)
  const turn = (isOn: boolean) => call<Project>('PATCH', `/v1/projects/${projectId}`, { body: { query_links: isOn } })
  const refresh = [keys.project(projectId), keys.projects]
  const allow = useAct(() => turn(true), { refresh })
  const end = useAct(() => turn(false), { refresh })
  if (project.data?.role !== 'owner') return null
  if (!project.data.query_links) {
    return (
      <Card title="Links for spreadsheets" about="Excel, Google Sheets and pandas open a link without a key.">
        <Group justify="space-between">
          <Text>Links are off in this project.</Text>
          <Button variant="default" loading={allow.isPending} onClick={() => allow.mutate()}>
            Allow links
          </Button>
        </Group>
      </Card>
    )
  }
  return (
    <Card title="Links for spreadsheets" about="Anyone with the link reads the rows, until it expires or is revoked.">
      <Stack gap="md">
        <Links projectId={projectId} query={query} />
        <Group>
          <Button variant="default" leftSection={<Link2 size={16} aria-hidden />} onClick={() => setMaking(true)}>
            New link
          </Button>
          <AskFirst
            renderButton={(ask) => (
              <Button variant="subtle" color="gray" onClick={ask}>
                Turn links off
              </Button>
            )}
            verb="Turn links off"
            act={end}
          >
            No link to any query of this project answers any more. Turned on again, those that have not expired work
            again.
          </AskFirst>
        </Group>
      </Stack>
      <NewLinkDialog
        target={{ projectId, environment, query }}
        parameters={parameters}
        opened={making}
        onClose={() => setMaking(false)}
      />
    </Card>
  )
}

function Links({ projectId, query }: { projectId: string; query: string }) {
  const path = `/v1/projects/${projectId}/query-links`
  const queryKey = ['projects', projectId, 'query-links', query]
  const links = usePages<QueryLink>(queryKey, `${path}?query=${query}&limit=50`)
  const [asking, setAsking] = useState<QueryLink | null>(null)
  const revoke = useAct(() => call<undefined>('DELETE', `${path}/${asking?.id}`), {
    refresh: [queryKey],
    say: () => `${asking?.name} is revoked.`,
  })
  if (links.data === undefined) return null
  if (links.data.length === 0) return <Text c="dimmed">There are no links yet.</Text>
  return (
    <>
      <PlainTable
        label="Links for spreadsheets"
        figures={['Calls']}
        whole="Name"
        head={['Name', 'Parameters', 'Expires', 'Calls', 'Last used', 'Revoke']}
        rows={links.data.map((link) => [
          `${link.name} (…${link.last4})`,
          sayValues(link.parameters),
          link.status === 'active' ? <Day key="end" at={link.expires_at} /> : link.status,
          link.calls,
          link.last_used_at === null ? 'never' : <Ago key="used" at={link.last_used_at} />,
          link.status === 'active' && (
            <Button key="revoke" size="compact-xs" variant="subtle" color="gray" onClick={() => setAsking(link)}>
              Revoke
            </Button>
          ),
        ])}
      />
      <Confirm
        opened={asking !== null}
        onClose={() => setAsking(null)}
        title={`Revoke ${asking?.name ?? ''}`}
        verb="Revoke"
        act={revoke}
      >
        Sheets that read this link get no more rows. This cannot be undone.
      </Confirm>
    </>
  )
}

function sayValues(parameters: Record<string, unknown>): string {
  const pairs = Object.entries(parameters).map(([name, value]) => `${name}=${String(value)}`)
  return pairs.length === 0 ? 'none' : pairs.join(', ')
}
