import { Tabs, Text } from '@mantine/core'
import { Check, CircleAlert } from 'lucide-react'
import type { ReactNode } from 'react'
import { Link } from 'wouter'
import { Loaded } from '../../../parts/text/loaded.tsx'
import { Row, Rows } from '../../../parts/table/rows.tsx'
import { Ago } from '../../../parts/text/time.tsx'
import { paths } from '../../../browser/paths.ts'
import type { Project } from '../../../client/wire.ts'
import { useJobsOf, useObjectsOf, useVersions } from '../shared/asked.ts'
import { sayDrift } from '../shared/drift.tsx'
import type { Datasource } from '../shared/wire.ts'
import shared from '../shared/build.module.css'
import { sayCount, saySize } from '../../../text/words.ts'
import classes from './fields/connection.module.css'

type Props = {
  project: Project
  source: Datasource | null
  /** The name of all tabs, and of the first. */
  label: string
  first: string
  /** The first tab; undefined where it is nothing for this reader. */
  children: ReactNode | undefined
}

/** The right side of a connection: what is at work there, and its loads so far. */
export function WithHistory({ project, source, label, first, children }: Props) {
  return (
    <div className={shared.panel}>
      <Tabs defaultValue={children === undefined ? 'history' : 'first'} keepMounted={false}>
        <Tabs.List aria-label={label}>
          {children !== undefined && <Tabs.Tab value="first">{first}</Tabs.Tab>}
          {source !== null && <Tabs.Tab value="history">History</Tabs.Tab>}
        </Tabs.List>
        <Tabs.Panel value="first" className={classes.response ?? ''}>
          {children}
        </Tabs.Panel>
        {source !== null && (
          <Tabs.Panel value="history" className={classes.response ?? ''}>
            <History project={project} source={source} />
          </Tabs.Panel>
        )}
      </Tabs>
    </div>
  )
}

type Entry = { id: string; at: string; good: boolean; what: string; more: string }

/** Each fetch with its result: the versions of the data, and the refreshes that brought none. */
function History({ project, source }: { project: Project; source: Datasource }) {
  const objects = useObjectsOf(project.id, source.id)
  const jobs = useJobsOf(project.id, source.id)
  const loads = new Map(useVersions(project.id, source.id).data?.map((each) => [each.version, each]))
  const versions = (objects.data ?? [])
    .filter(({ kind }) => kind === 'response_data')
    .map((object): Entry => ({
      id: object.id,
      at: object.created_at,
      good: true,
      what: `Version ${object.version}: ${sayCount(object.row_count ?? 0, 'row')}, ${saySize(object.size_bytes)}`,
      more: [
        object.truncated ? 'not all of it was fetched' : '',
        object.drift === null ? '' : sayDrift(object.drift),
        ...(loads.get(object.version)?.warnings ?? []).map(({ message }) => message),
      ]
        .filter(Boolean)
        .join('; '),
    }))
  const failures = (jobs.data ?? [])
    .filter(({ status }) => status === 'failed' || status === 'cancelled')
    .map((job): Entry => ({
      id: job.id,
      at: job.finished_at ?? job.created_at,
      good: false,
      what: job.status === 'cancelled' ? 'A refresh was cancelled' : 'A refresh failed',
      more: job.error?.message ?? '',
    }))
  const entries = [...versions, ...failures].sort((one, other) => other.at.localeCompare(one.at))
  return (
    <Loaded query={objects}>
      {() =>
        entries.length === 0 ? (
          <Text c="dimmed">Nothing was fetched yet.</Text>
        ) : (
          <Rows label="Refreshes">
            {entries.map(({ id, at, good, what, more }) => (
              <Row
                key={id}
                lead={good ? <Check size={16} /> : <CircleAlert size={16} color="var(--sluice-danger)" />}
                end={
                  <Text size="xs" c="dimmed">
                    <Ago at={at} />
                  </Text>
                }
              >
                {good ? <Link href={paths.table(project.id, source.table_name)}>{what}</Link> : what}
                {more !== '' && (
                  <Text size="xs" c="dimmed">
                    {more}
                  </Text>
                )}
              </Row>
            ))}
          </Rows>
        )
      }
    </Loaded>
  )
}
