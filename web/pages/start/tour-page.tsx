import { Button, Code, Text } from '@mantine/core'
import { Check, Circle } from 'lucide-react'
import { useState, type ReactNode } from 'react'
import { Link } from 'wouter'
import { Heading } from '../../parts/text/heading.tsx'
import { Loaded } from '../../parts/text/loaded.tsx'
import { PlainTable } from '../../parts/table/plain-table.tsx'
import { RefusalNotice } from '../../parts/text/refusal.tsx'
import { askPath, deployPath, paths } from '../../browser/paths.ts'
import { useAct, useUser } from '../../client/queries.ts'
import { thingKeys, useDatasources, useQueriesOf } from '../../client/things.ts'
import type { Datasource, Project, Query } from '../../client/wire.ts'
import { sayValue } from '../../text/words.ts'
import classes from './start.module.css'
import { askInWords, callWithKey, fetchAgain, lookAt, runDraft, type StepResult } from './tour-acts.ts'

/** The way of data through a project in five steps. Each does what its button says, on the data that is there. */
export function TourPage({ project }: { project: Project }) {
  const sources = useDatasources(project.id)
  const queries = useQueriesOf(project.id)
  return (
    <>
      <Heading title="Tour" within={project.name}>
        From someone’s API to an answer, in five steps. Each one really happens, in this project.
      </Heading>
      <Loaded query={sources}>
        {(connections) => (
          <Loaded query={queries}>
            {(all) => {
              const source = connections.findLast(({ kind }) => kind === 'http_api')
              const query = all.find((each) => each.deployments.length > 0 && each.examples.length > 0)
              return source === undefined || query === undefined ? (
                <Text c="dimmed">
                  The tour needs a connection and a deployed query with an example question, as the example project has
                  them.
                </Text>
              ) : (
                <Steps project={project} source={source} query={query} />
              )
            }}
          </Loaded>
        )}
      </Loaded>
    </>
  )
}

type StepsProps = { project: Project; source: Datasource; query: Query }

function Steps({ project, source, query }: StepsProps) {
  const { id, role } = project
  const question = query.examples[0]?.question ?? ''
  return (
    <>
      <ol className={classes.steps} aria-label="Steps of the tour">
        <TourStep
          project={project}
          number={1}
          title="Bring data in"
          verb={`Fetch ${source.name} again`}
          act={() => fetchAgain(id, source)}
          lead={{ to: paths.connection(id, source.id), label: 'The connection' }}
        >
          A connection says where an API is. Fetching stores what it answers as the table{' '}
          <Code>{source.table_name}</Code>.
        </TourStep>
        <TourStep
          project={project}
          number={2}
          title="Look at it"
          verb={`Read five rows of ${source.table_name}`}
          act={() => lookAt(id, source)}
          lead={{ to: paths.table(id, source.table_name, 'rows'), label: 'All rows' }}
        >
          Types, missing values and the commonest values are worked out with every fetch.
        </TourStep>
        <TourStep
          project={project}
          number={3}
          title="Run a query"
          verb={`Run ${query.name}`}
          act={() => runDraft(id, query)}
          lead={{ to: paths.query(id, query.name), label: 'Its SQL' }}
        >
          A query is one SELECT; where it says <Code>$name</Code>, callers choose.
        </TourStep>
        <TourStep
          project={project}
          number={4}
          title="Call it as a program does"
          verb="Make a key and call"
          act={() => callWithKey(id, query)}
          disabled={role === 'owner' ? null : 'Only owners make keys.'}
          lead={{ to: deployPath(id, 'requests'), label: 'The call in the log' }}
        >
          Deployed, <Code>{query.name}</Code> answers under its name to whoever has a key. This one is for this query
          and an hour.
        </TourStep>
        <TourStep
          project={project}
          number={5}
          title="Ask in plain words"
          verb={`Ask “${question}”`}
          act={() => askInWords(id, question)}
          lead={{
            to: askPath(id, undefined, question),
            label: 'Ask something else',
          }}
        >
          Nobody needs to know the name: a question finds the query and its values, and says how sure it is.
        </TourStep>
      </ol>
      <Text mt="lg">
        Now your own: <Link href={paths.allProjects}>make a project</Link>, and the same steps lead to your first
        answer.
      </Text>
    </>
  )
}

type StepProps = {
  project: Project
  number: number
  title: string
  verb: string
  act: () => Promise<StepResult>
  /** Where what happened is to be seen. */
  lead: { to: string; label: string }
  /** Why it cannot be done, where it cannot. */
  disabled?: string | null
  children: ReactNode
}

function TourStep({ project, number, title, verb, act, lead, disabled = null, children }: StepProps) {
  const { isDone, note } = useStepDone(project, number)
  const step = useAct(
    async () => {
      const result = await act()
      note()
      return result
    },
    { refresh: [thingKeys.sources(project.id), thingKeys.objects(project.id)] },
  )
  return (
    <li className={classes.step} data-done={isDone || undefined} aria-label={`Step ${number}: ${title}`}>
      {isDone ? <Check size={18} aria-label="Done" /> : <Circle size={18} aria-label="To do" />}
      <div className={classes.act}>
        <div>
          <Text fw={600}>
            {number}. {title}
          </Text>
          <Text c="dimmed">{children}</Text>
        </div>
        <div>
          <Button
            variant={isDone ? 'default' : 'filled'}
            loading={step.isPending}
            disabled={disabled !== null}
            onClick={() => step.mutate()}
          >
            {verb}
          </Button>
          {disabled !== null && (
            <Text size="xs" c="dimmed" mt={4}>
              {disabled}
            </Text>
          )}
        </div>
        <RefusalNotice error={step.error} />
        {step.data !== undefined && (
          <div aria-live="polite">
            <Text>
              {step.data.words} <Link href={lead.to}>{lead.label}</Link>
            </Text>
            <ResultRows title={title} rows={step.data.rows} />
          </div>
        )}
      </div>
    </li>
  )
}

/** As many columns as are read at a glance. */
const mostColumns = 6

function ResultRows({ title, rows }: { title: string; rows: StepResult['rows'] }) {
  const columns = Object.keys(rows[0] ?? {}).slice(0, mostColumns)
  if (columns.length === 0) return null
  return (
    <PlainTable
      label={`What came of “${title}”`}
      head={columns}
      rows={rows.map((row) => columns.map((column) => sayValue(row[column])))}
    />
  )
}

/** Which steps someone has done, kept in this browser. */
function useStepDone(project: Project, number: number): { isDone: boolean; note: () => void } {
  const key = `sluice-tour ${useUser().id} ${project.id} ${number}`
  const [isDone, setIsDone] = useState(() => localStorage.getItem(key) !== null)
  return {
    isDone,
    note() {
      localStorage.setItem(key, 'yes')
      setIsDone(true)
    },
  }
}
