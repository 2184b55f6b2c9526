import { Button, Group, Stack, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { ListChecks, Play } from 'lucide-react'
import { call, callAll } from '../../client/api.ts'
import { AskFirst } from '../../parts/form/confirm.tsx'
import { Empty } from '../../parts/text/empty.tsx'
import { Loaded } from '../../parts/text/loaded.tsx'
import { Growing } from '../../parts/table/more.tsx'
import { PlainTable } from '../../parts/table/list.tsx'
import { RefusalNotice } from '../../parts/text/refusal.tsx'
import { Row, Rows } from '../../parts/table/rows.tsx'
import { Ago } from '../../parts/text/time.tsx'
import { Verdict } from '../../parts/text/verdict.tsx'
import { useAct } from '../../client/queries.ts'
import type { Place } from '../deploy/shared/place.ts'
import type { Evaluation, EvaluationRun } from '../deploy/shared/wire.ts'
import { RowAct } from '../../parts/table/row-act.tsx'

export const evaluationsKey = (projectId: string) => ['projects', projectId, 'questions', 'evaluations']

export function useCases(projectId: string) {
  return useQuery({
    queryKey: evaluationsKey(projectId),
    queryFn: ({ signal }) => callAll<Evaluation>(`/v1/projects/${projectId}/evaluations`, signal),
  })
}

/** Questions with what must answer them. Every deployment asks them again; here they can be asked at any time. */
export function EvaluationCases({ place }: { place: Place }) {
  const { project, environment, editor } = place
  const cases = useCases(project.id)
  const run = useAct(
    () => call<EvaluationRun>('POST', `/v1/projects/${project.id}/evaluations/run`, { body: { environment } }),
    { refresh: [] },
  )
  return (
    <Loaded query={cases}>
      {(list) =>
        list.length === 0 ? (
          <Empty icon={<ListChecks size={20} />} guide="ask-questions">
            No question has an answer on record that deployments could be checked against.
          </Empty>
        ) : (
          <Stack gap="md">
            {editor && (
              <Group>
                <Button
                  size="xs"
                  variant="default"
                  leftSection={<Play size={14} aria-hidden />}
                  loading={run.isPending}
                  onClick={() => run.mutate()}
                >
                  Ask them in {environment}
                </Button>
              </Group>
            )}
            <RefusalNotice error={run.error} />
            {run.data !== undefined && <RunResult run={run.data} />}
            <Growing items={list} what="cases">
              {(shown) => (
                <Rows label="Evaluation cases">
                  {shown.map((each) => (
                    <CaseRow key={each.id} place={place} evaluation={each} />
                  ))}
                </Rows>
              )}
            </Growing>
          </Stack>
        )
      }
    </Loaded>
  )
}

function RunResult({ run: { total, passed, results, environment } }: { run: EvaluationRun }) {
  const failed = results.filter((each) => !each.passed)
  return (
    <Verdict
      mood={failed.length > 0 ? 'bad' : 'good'}
      says={
        failed.length === 0
          ? `Each of the ${total} is answered as expected in ${environment}.`
          : `${passed} of ${total} are answered as expected in ${environment}.`
      }
    >
      {failed.length > 0 && (
        <PlainTable
          label="Cases that fail"
          head={['Question', 'Expected', 'Got']}
          whole="Question"
          rows={failed.map(({ question, expected, got }) => [
            question,
            expected.query ?? 'a refusal',
            got.outcome === 'answered' ? (got.query ?? '') : got.outcome.replace('_', ' '),
          ])}
        />
      )}
    </Verdict>
  )
}

const sources: Record<Evaluation['source'], string> = {
  written: 'written',
  confirmed: 'from a confirmed report',
  missed: 'from an unanswered question',
  reported: 'from a report that nobody has confirmed: it holds no deployment',
}

function CaseRow({ place: { project, editor }, evaluation }: { place: Place; evaluation: Evaluation }) {
  const { id, question, expected_query: query, expected_parameters: parameters } = evaluation
  const remove = useAct(() => call<undefined>('DELETE', `/v1/projects/${project.id}/evaluations/${id}`), {
    refresh: [evaluationsKey(project.id)],
    say: () => 'The case is removed.',
  })
  const values = Object.entries(parameters ?? {}).map(([name, value]) => `${name} = ${JSON.stringify(value)}`)
  return (
    <Row
      end={
        editor && (
          <AskFirst
            renderButton={(ask) => (
              <RowAct label={`Remove the case “${question}”`} onClick={ask}>
                Remove
              </RowAct>
            )}
            title="Remove this case"
            verb="Remove it"
            act={remove}
          >
            Deployments no longer ask “{question}”.
          </AskFirst>
        )
      }
    >
      <Text fw={500}>“{question}”</Text>
      <Text size="sm">
        {query === null
          ? 'must be refused'
          : `must be answered by ${query}${values.length === 0 ? '' : ` with ${values.join(', ')}`}`}
      </Text>
      <Text size="xs" c="dimmed">
        {sources[evaluation.source]} · by {evaluation.created_by} <Ago at={evaluation.created_at} />
      </Text>
    </Row>
  )
}
