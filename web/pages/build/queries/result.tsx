import { Button, Loader, Tabs, Text } from '@mantine/core'
import { useComeIntoView } from '../../../parts/come-into-view.ts'
import { RefusalNotice } from '../../../parts/refusal.tsx'
import { Ago } from '../../../parts/time.tsx'
import { Grid } from '../../../parts/grid.tsx'
import { sayCount, sayTime } from '../../../words.ts'
import { PlanSteps } from './plan-steps.tsx'
import classes from './query.module.css'
import { canChart, ResultChart } from './result-chart.tsx'
import type { QueryDraft } from './use-query-draft.ts'

/** The rows of the last run, how long it took, and the plan behind it. */
export function Result({ draft: { run, plan } }: { draft: QueryDraft }) {
  const answer = run.data
  const shown = useComeIntoView<HTMLElement>(answer)
  if (run.error !== null) {
    return <RefusalNotice error={run.error} />
  }
  if (answer === undefined) {
    return (
      <Text c="dimmed" aria-live="polite">
        {run.isPending ? (
          <Loader size="xs" aria-label="Running" />
        ) : run.stopped ? (
          'Cancelled. Run starts it again.'
        ) : (
          'Run shows the rows here.'
        )}
      </Text>
    )
  }
  return (
    <section ref={shown} aria-label="Result" aria-busy={run.isPending}>
      <Tabs defaultValue="rows" keepMounted={false} onChange={(tab) => tab === 'plan' && plan.mutate()}>
        <Tabs.List>
          <Tabs.Tab value="rows">Rows</Tabs.Tab>
          <Tabs.Tab value="chart" disabled={!canChart(answer)}>
            Chart
          </Tabs.Tab>
          <Tabs.Tab value="plan">Plan</Tabs.Tab>
        </Tabs.List>
        <Tabs.Panel value="rows">
          <div className={classes.facts} aria-live="polite">
            <span>{sayCount(answer.row_count, 'row')}</span>
            <span>{sayTime(answer.execution_time_ms)}</span>
            {answer.as_of !== null && (
              <span>
                data fetched <Ago at={answer.as_of} />
              </span>
            )}
            {answer.truncated && <span>only the first rows: there are more than the limit</span>}
          </div>
          <Grid
            label="Rows of the result"
            columns={answer.columns}
            count={answer.data.length}
            rowAt={(index) => answer.data[index]}
          />
        </Tabs.Panel>
        <Tabs.Panel value="chart" pt="md">
          <ResultChart answer={answer} />
        </Tabs.Panel>
        <Tabs.Panel value="plan" pt="sm">
          <RefusalNotice error={plan.error} />
          {plan.data !== undefined && <PlanSteps explained={plan.data} />}
          {plan.isPending && <Loader size="xs" aria-label="Asking for the plan" />}
          {plan.error !== null && (
            <Button variant="default" size="xs" onClick={() => plan.mutate()}>
              Ask again
            </Button>
          )}
        </Tabs.Panel>
      </Tabs>
    </section>
  )
}
