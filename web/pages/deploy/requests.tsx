import { Badge, Paper, Switch, Text } from '@mantine/core'
import { Activity } from 'lucide-react'
import { useState } from 'react'
import { CopyMark } from '../../parts/copy.tsx'
import { Empty } from '../../parts/empty.tsx'
import { Heading } from '../../parts/heading.tsx'
import { Loaded } from '../../parts/loaded.tsx'
import { Older } from '../../parts/more.tsx'
import { Second } from '../../parts/time.tsx'
import { PlainTable } from '../../parts/plain-table.tsx'
import type { Place } from './place.ts'
import { UsageFilterBar, useUsageFilter } from './usage-filter.tsx'
import { useRequests } from './usage-queries.ts'
import type { RequestEntry } from './usage-wire.ts'
import { sayMs } from './words.ts'

/** Calls as they come. */
export function RequestsPage({ place }: { place: Place }) {
  const { project, environment } = place
  const { query } = useUsageFilter()
  const [live, setLive] = useState(true)
  const requests = useRequests(project.id, { environment, query }, live)
  return (
    <>
      <Heading
        title="Requests"
        within={project.name}
        action={<Switch label="Live" checked={live} onChange={(event) => setLive(event.currentTarget.checked)} />}
      >
        The last calls in {environment}. {live ? 'New ones appear as they are made.' : 'New ones wait until you go on.'}
        {requests.hasGap && ' More came at once than are shown; load this page anew to see them all.'}
      </Heading>
      <UsageFilterBar place={place} />
      <Loaded query={requests}>
        {(list) =>
          list.length === 0 ? (
            <Empty icon={<Activity size={20} />} guide="metrics-and-alerts">
              Nothing was called yet. Calls appear here a second or two after.
            </Empty>
          ) : (
            <Paper radius="lg" p="md" bg="var(--sluice-surface)" bd="1px solid var(--sluice-line)">
              <PlainTable
                label="Requests"
                head={['Time', 'Query', 'Status', 'Took', 'Rows', 'Request']}
                rows={list.map(cellsOf)}
                figures={['Took', 'Rows']}
                whole="Query"
              />
            </Paper>
          )
        }
      </Loaded>
      <Older pages={requests} what="calls" />
    </>
  )
}

const entries: Record<RequestEntry['entry'], string> = {
  direct: '',
  question: 'asked',
  tool: 'by a tool',
  preview: 'preview',
}

function cellsOf(entry: RequestEntry) {
  const { id, at, query, status, reason, error, total_ms: tookMs, rows, question, version } = entry
  return [
    <Second key="at" at={at} />,
    <div key="query">
      {query ?? 'no query'} {version !== null && <span className="numbers">v{version}</span>}
      {(question !== null || entries[entry.entry] !== '') && (
        <Text size="xs" c="dimmed" component="div">
          {[entries[entry.entry], question === null ? '' : `“${question}”`].filter((each) => each !== '').join(': ')}
        </Text>
      )}
    </div>,
    <Badge
      key="status"
      miw="max-content"
      variant="light"
      tt="none"
      radius="sm"
      color={status >= 400 ? 'red' : reason === null ? 'tide' : 'yellow'}
      c="var(--mantine-color-text)"
    >
      {/* An answer has a reason where it says what it leaves out of the question. */}
      {status} {reason ?? error ?? ''}
    </Badge>,
    sayMs(tookMs),
    rows.toLocaleString('en'),
    <CopyMark key="id" text={id} what={`request id ${id}`} />,
  ]
}
