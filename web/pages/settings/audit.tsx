import { Button, Code, Stack, Text, UnstyledButton } from '@mantine/core'
import { ChevronRight, History } from 'lucide-react'
import { useState } from 'react'
import { describeAct } from './acts.ts'
import { CopyMark } from '../../parts/text/copy.tsx'
import { Empty } from '../../parts/text/empty.tsx'
import { Heading } from '../../parts/text/heading.tsx'
import { Loaded } from '../../parts/text/loaded.tsx'
import { aRole } from '../../parts/form/roles.tsx'
import { Rows } from '../../parts/table/rows.tsx'
import { Ago, Moment } from '../../parts/text/time.tsx'
import { useAudit, useMembers } from '../../client/queries.ts'
import type { AuditEntry, Member, Project } from '../../client/wire.ts'
import { AuditFilterBar, useAuditFilter } from './audit-filter.tsx'
import classes from './audit.module.css'

export function AuditSection({ project }: { project: Project }) {
  return (
    <>
      <Heading title="Audit log" within={project.name}>
        Who did what in this project, newest first.
      </Heading>
      {project.role === 'owner' ? (
        <AuditLog project={project} />
      ) : (
        <Empty icon={<History size={20} />}>
          Only owners see the audit log. You are {aRole(project.role)} of {project.name}.
        </Empty>
      )}
    </>
  )
}

function AuditLog({ project }: { project: Project }) {
  const view = useAuditFilter()
  const audit = useAudit(project.id, view.search)
  const members = useMembers(project.id)
  return (
    <>
      <AuditFilterBar project={project} members={members.data ?? []} view={view} />
      <Loaded query={audit}>
        {(entries) => (
          <Stack gap="md" align="flex-start">
            {entries.length === 0 ? (
              <Empty icon={<History size={20} />}>Nothing in the log fits what is chosen above.</Empty>
            ) : (
              <div className={classes.log}>
                <Rows label="Acts">
                  {entries.map((entry) => (
                    <Entry key={entry.id} entry={entry} members={members.data ?? []} log={entries} />
                  ))}
                </Rows>
              </div>
            )}
            {audit.hasNextPage ? (
              <Button variant="default" loading={audit.isFetchingNextPage} onClick={() => void audit.fetchNextPage()}>
                Show older
              </Button>
            ) : (
              view.search === '' && (
                <Text size="xs" c="dimmed">
                  This is everything since the project began.
                </Text>
              )
            )}
          </Stack>
        )}
      </Loaded>
    </>
  )
}

function Entry({ entry, members, log }: { entry: AuditEntry; members: Member[]; log: AuditEntry[] }) {
  const [open, setOpen] = useState(false)
  return (
    <li className={classes.entry}>
      <UnstyledButton className={classes.line ?? ''} onClick={() => setOpen(!open)} aria-expanded={open}>
        <ChevronRight size={14} aria-hidden className={classes.arrow} data-open={open || undefined} />
        <span className={classes.words}>
          <strong>{whoDid(entry, members)}</strong> {describeAct(entry, members, log)}
        </span>
        <Text component="span" size="xs" c="dimmed" className={classes.when ?? ''}>
          <Ago at={entry.at} />
        </Text>
      </UnstyledButton>
      {open && <Details entry={entry} />}
    </li>
  )
}

const doers: Record<AuditEntry['actor']['kind'], (label: string) => string> = {
  user: (label) => label,
  token: (label) => `Token ${label}`,
  operator: () => 'The operator',
  system: () => 'Sluice',
}

function whoDid({ actor }: AuditEntry, members: Member[]): string {
  return members.find((member) => member.user_id === actor.id)?.name ?? doers[actor.kind](actor.label)
}

function Details({ entry }: { entry: AuditEntry }) {
  const facts: Array<[string, string]> = [
    ['action', entry.action],
    ['on', entry.target],
    ...Object.entries(entry.details)
      .filter(([, value]) => value !== null)
      .map(([name, value]): [string, string] => [name, typeof value === 'string' ? value : JSON.stringify(value)]),
  ]
  return (
    <dl className={classes.details}>
      <dt>at</dt>
      <dd>
        <Moment at={entry.at} />
      </dd>
      <dt>by</dt>
      <dd>{entry.actor.label}</dd>
      {facts.map(([name, value]) => (
        <div key={name} className={classes.fact}>
          <dt>{name}</dt>
          <dd>
            <Code>{value}</Code>
          </dd>
        </div>
      ))}
      {entry.request_id !== null && (
        <>
          <dt>request</dt>
          <dd>
            <Code>{entry.request_id}</Code> <CopyMark text={entry.request_id} what="the request id" />
          </dd>
        </>
      )}
    </dl>
  )
}
