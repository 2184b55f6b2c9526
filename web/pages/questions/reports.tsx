import { Badge, Button, Group, Text } from '@mantine/core'
import { Flag } from 'lucide-react'
import { call } from '../../client/api.ts'
import { AskFirst } from '../../parts/form/confirm.tsx'
import { Empty } from '../../parts/text/empty.tsx'
import { PagedRows } from '../../parts/table/more.tsx'
import { RefusalNotice } from '../../parts/text/refusal.tsx'
import { Row } from '../../parts/table/rows.tsx'
import { Ago } from '../../parts/text/time.tsx'
import { useAct, usePages } from '../../client/queries.ts'
import { evaluationsKey } from './evaluation-cases.tsx'
import type { Place } from '../deploy/shared/place.ts'
import type { CounterExample } from '../deploy/shared/wire.ts'
import { RowAct } from '../../parts/table/row-act.tsx'

const reportsKey = (projectId: string) => ['projects', projectId, 'questions', 'reports']

export function useReports(projectId: string) {
  return usePages<CounterExample>(reportsKey(projectId), `/v1/projects/${projectId}/counter-examples?limit=50`)
}

/** Answers that somebody said are wrong: to be confirmed, and then heeded by the router, or to be removed. */
export function Reports({ place }: { place: Place }) {
  const reports = useReports(place.project.id)
  return (
    <PagedRows
      pages={reports}
      label="Reported answers"
      what="reports"
      empty={<Empty icon={<Flag size={20} />}>Nobody has reported a wrong answer. Under Ask, an answer can be.</Empty>}
    >
      {(each) => <ReportRow key={each.id} place={place} report={each} />}
    </PagedRows>
  )
}

function ReportRow({ place: { project, editor }, report }: { place: Place; report: CounterExample }) {
  const { question, status, note } = report
  const path = `/v1/projects/${project.id}/counter-examples/${report.id}`
  const refresh = [reportsKey(project.id), evaluationsKey(project.id)]
  const confirm = useAct(() => call<CounterExample>('POST', `${path}/confirm`), {
    refresh,
    say: () => 'Heeded from now on, in every environment.',
  })
  const remove = useAct(() => call<undefined>('DELETE', path), { refresh, say: () => 'The report is removed.' })
  const isHeeded = status === 'confirmed'
  return (
    <Row
      end={
        <>
          <Badge
            variant="light"
            tt="none"
            radius="sm"
            color={isHeeded ? 'green' : 'yellow'}
            c="var(--mantine-color-text)"
          >
            {isHeeded ? 'Heeded' : 'Not confirmed'}
          </Badge>
          {editor && (
            <Group gap="xs">
              {!isHeeded && (
                <Button
                  size="xs"
                  variant="default"
                  loading={confirm.isPending}
                  onClick={() => confirm.mutate()}
                  aria-label={`Confirm that “${question}” was answered wrongly`}
                >
                  Confirm
                </Button>
              )}
              <AskFirst
                renderButton={(ask) => (
                  <RowAct label={`Remove the report of “${question}”`} onClick={ask}>
                    Remove
                  </RowAct>
                )}
                title="Remove this report"
                verb="Remove it"
                act={remove}
              >
                {isHeeded
                  ? `“${question}” is answered again as if nobody had reported it. Its evaluation case stays.`
                  : `“${question}” was answered rightly then. The evaluation case that was made of the report goes, too.`}
              </AskFirst>
            </Group>
          )}
        </>
      }
    >
      <Text fw={500}>“{question}”</Text>
      <Text size="sm">{sayWrong(report)}</Text>
      {note !== null && <Text size="sm">“{note}”</Text>}
      <Text size="xs" c="dimmed">
        reported by {report.created_by} <Ago at={report.created_at} />
        {report.confirmed_by !== null && ` · confirmed by ${report.confirmed_by}`}
      </Text>
      <RefusalNotice error={confirm.error} />
    </Row>
  )
}

function sayWrong({ not_query: wrong, meant_query: meant }: CounterExample): string {
  if (wrong === null) return `Was refused; ${meant} should answer it.`
  return meant === null ? `${wrong} answered it; nothing should.` : `${wrong} answered it; ${meant} should.`
}
