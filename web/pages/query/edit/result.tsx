import { Button, Tabs, Text } from '@mantine/core'
import { useComeIntoView } from '../../../parts/text/come-into-view.ts'
import { RefusalNotice } from '../../../parts/text/refusal.tsx'
import { Ago } from '../../../parts/text/time.tsx'
import { DataGrid } from '../../../parts/grid/data-grid.tsx'
import { ResultChart } from '../../../parts/chart/result-chart.tsx'
import { sayTime } from '../../../text/words.ts'
import { PlanSteps } from './plan-steps.tsx'
import classes from './query.module.css'
import type { Preview } from '../../build/shared/wire.ts'
import type { QueryDraft } from '../draft/use-query-draft.ts'
import { Waiting } from '../../../parts/text/waiting.tsx'

/** The rows of the last run, how long it took, and the plan behind it. */
export function Result({ draft }: { draft: QueryDraft }) {
  const { run, plan } = draft
  const answer = run.data
  const shown = useComeIntoView<HTMLElement>(answer)
  if (run.error !== null) {
    const slots = Object.keys(draft.content.slots.properties)
    return <RefusalNotice error={run.error} fields={slots.map((name) => `parameters.${name}`)} />
  }
  if (answer === undefined) {
    return (
      <Text c="dimmed" aria-live="polite">
        {run.isPending ? (
          <Waiting size="xs" says="Running" />
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
        <Tabs.List aria-label="Show the result as">
          <Tabs.Tab value="rows">Rows</Tabs.Tab>
          <Tabs.Tab value="chart" disabled={answer.data.length === 0}>
            Chart
          </Tabs.Tab>
          {draft.saved !== null && <Tabs.Tab value="plan">Plan</Tabs.Tab>}
        </Tabs.List>
        <Tabs.Panel value="rows">
          <ResultRows draft={draft} answer={answer} />
        </Tabs.Panel>
        <Tabs.Panel value="chart" pt="md">
          <ResultChart
            columns={answer.columns}
            rows={answer.data}
            chart={draft.content.chart}
            onChange={(chart) => draft.change({ chart })}
            kept="Kept with the query when it is saved, and deployed with it."
          />
        </Tabs.Panel>
        <Tabs.Panel value="plan" pt="sm">
          <RefusalNotice error={plan.error} />
          {plan.data !== undefined && <PlanSteps explained={plan.data} />}
          {plan.isPending && <Waiting size="xs" says="Asking for the plan" />}
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

function ResultRows({ draft, answer }: { draft: QueryDraft; answer: Preview }) {
  return (
    <>
      <div className={classes.facts} aria-live="polite">
        <span>{sayTime(answer.execution_time_ms)}</span>
        {answer.as_of !== null && (
          <span>
            data fetched <Ago at={answer.as_of} />
          </span>
        )}
        {answer.truncated && (
          <span>only the first rows: {draft.saved === null ? 'there are more' : 'a download has them all'}</span>
        )}
      </div>
      <DataGrid
        label="Rows of the result"
        columns={answer.columns}
        rows={answer.data}
        storageKey={draft.storageKey}
        download={draft.download}
      />
    </>
  )
}
