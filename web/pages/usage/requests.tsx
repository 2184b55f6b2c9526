import { Anchor, Button, Group, Switch, Text, VisuallyHidden } from '@mantine/core'
import { Activity, Download } from 'lucide-react'
import { useState } from 'react'
import { CopyMark } from '../../parts/text/copy.tsx'
import { Empty } from '../../parts/text/empty.tsx'
import { Heading } from '../../parts/text/heading.tsx'
import { Loaded } from '../../parts/text/loaded.tsx'
import { Older } from '../../parts/table/more.tsx'
import { RefusalNotice } from '../../parts/text/refusal.tsx'
import { Second } from '../../parts/text/time.tsx'
import { useAct } from '../../client/queries.ts'
import { sayCount } from '../../text/words.ts'
import { PlainTable } from '../../parts/table/list.tsx'
import type { Place } from '../deploy/shared/place.ts'
import { exportRequests } from './export-requests.ts'
import { Outcome } from './outcome.tsx'
import { RequestDrawer } from './request-drawer.tsx'
import { RequestsFilterBar, searchOf, useRequestsFilter } from './requests-filter.tsx'
import { SavedViews } from './saved-views.tsx'
import { useRequests } from '../deploy/shared/usage-queries.ts'
import type { RequestEntry } from '../deploy/shared/usage-wire.ts'
import { sayMs } from '../deploy/shared/words.ts'
import { useKeyNames } from './call-selects.tsx'
import { sayFailure } from './failure-words.ts'

/** Calls as they come. What is looked at, and which call is open, stands in the address. */
export function RequestsPage({ place }: { place: Place }) {
  const { project, environment } = place
  const { filter, request, choose } = useRequestsFilter()
  const [live, setLive] = useState(true)
  const [nowMs] = useState(() => Date.now())
  const search = searchOf(environment, filter, nowMs)
  const requests = useRequests(project.id, search, live)
  const save = useAct(() => exportRequests(project.id, search), {
    refresh: [],
    say: ({ count, isCut }) =>
      `${isCut ? 'The newest ' : ''}${sayCount(count, 'call')} ${count === 1 ? 'is' : 'are'} in requests.csv.`,
  })
  const keys = useKeyNames(place)
  const isFiltered = Object.values(filter).some((value) => value !== null)
  return (
    <>
      <Heading
        title="Requests"
        within={project.name}
        action={
          <Group gap="md">
            <SavedViews place={place} page="requests" />
            <Switch label="Live" checked={live} onChange={(event) => setLive(event.currentTarget.checked)} />
            <Button
              variant="default"
              leftSection={<Download size={16} aria-hidden />}
              loading={save.isPending}
              onClick={() => save.mutate()}
            >
              Export CSV
            </Button>
          </Group>
        }
      >
        The last calls in {environment}. {live ? 'New ones appear as they are made.' : 'New ones wait until you go on.'}
        {requests.hasGap && ' More came at once than are shown; load this page anew to see them all.'}
      </Heading>
      <RequestsFilterBar place={place} />
      <RefusalNotice error={save.error} />
      <Loaded query={requests}>
        {(list) =>
          list.length === 0 ? (
            <Empty icon={<Activity size={20} />} guide="metrics-and-alerts">
              {isFiltered
                ? 'No call fits what is chosen above.'
                : 'Nothing was called yet. Calls appear here a second or two after.'}
            </Empty>
          ) : (
            <PlainTable
              label="Requests"
              look="page"
              head={['Time', 'Query', 'Key', 'Status', 'Took', 'Rows', 'Request']}
              rows={list.map((entry) => cellsOf(entry, keys, (id) => choose({ request: id })))}
              figures={['Took', 'Rows']}
              whole="Query"
              opens
            />
          )
        }
      </Loaded>
      <Older pages={requests} what="calls" />
      <RequestDrawer
        place={place}
        requestId={request}
        onClose={() => choose({ request: '' })}
        onFilter={(name, value) => choose({ [name]: value, request: '' })}
      />
    </>
  )
}

const entries: Record<RequestEntry['entry'], string> = {
  direct: '',
  question: 'asked',
  tool: 'by a tool',
  preview: 'preview',
}

function cellsOf(entry: RequestEntry, keys: ReadonlyMap<string, string>, open: (id: string) => void) {
  const { id, at, query, status, reason, error, total_ms: tookMs, rows, question, version, key_id: key } = entry
  return [
    <Anchor key="at" component="button" ta="left" onClick={() => open(id)}>
      {/* The end of its id tells it from others of the same second; nobody wants to hear all of it. */}
      <VisuallyHidden>open call {id.slice(-4)} of </VisuallyHidden>
      <Second at={at} />
    </Anchor>,
    <div key="query">
      {query ?? 'no query'} {version !== null && <span className="numbers">v{version}</span>}
      {(question !== null || entries[entry.entry] !== '') && (
        <Text size="xs" c="dimmed" component="div">
          {[entries[entry.entry], question === null ? '' : `“${question}”`].filter((each) => each !== '').join(': ')}
        </Text>
      )}
    </div>,
    key === null ? '' : (keys.get(key) ?? `…${key.slice(-4)}`),
    <div key="status">
      <Outcome status={status} reason={reason} error={error} />
      {error !== null && (
        <Text size="xs" c="dimmed">
          {sayFailure({ error, reason })}
        </Text>
      )}
    </div>,
    sayMs(tookMs),
    rows.toLocaleString('en'),
    <CopyMark key="id" text={id} what={`request id that ends with ${id.slice(-4)}`} />,
  ]
}
