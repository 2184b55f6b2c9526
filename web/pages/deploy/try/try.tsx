import { Paper, Select, Stack } from '@mantine/core'
import { SquareTerminal } from 'lucide-react'
import { useState, type ReactNode } from 'react'
import { Redirect, useLocation, useSearch } from 'wouter'
import { askPath } from '../../../browser/paths.ts'
import { Card } from '../../../parts/text/card.tsx'
import { useComeIntoView } from '../../../parts/text/come-into-view.ts'
import { Empty } from '../../../parts/text/empty.tsx'
import { Heading } from '../../../parts/text/heading.tsx'
import { Loaded } from '../../../parts/text/loaded.tsx'
import { sentence } from '../../../text/field-words.ts'
import { CallAnswer, CallButtons, useCall, useCaller } from './call.tsx'
import { callForFile, makeCall, refusalOf, type CallRequest, type Outcome } from './calls.ts'
import classes from '../shared/deploy.module.css'
import type { Place } from '../shared/place.ts'
import { useDeployments, useVersion } from '../shared/queries.ts'
import { headersOf, pathOf, type CallTarget } from '../shared/snippet-text.ts'
import { Snippets } from '../shared/snippets.tsx'
import { readValues, showValues, type Typed } from '../shared/slot-values.ts'
import { SlotsForm } from '../shared/slots-form.tsx'
import type { Version } from '../shared/wire.ts'

/** Any endpoint of the environment, called by hand. The choice is in the address. */
export function TryPage({ place }: { place: Place }) {
  const { project, environment } = place
  const [path, navigate] = useLocation()
  const asked = new URLSearchParams(useSearch())
  // Questions were asked here once; links to them still stand somewhere.
  if (asked.get('by') === 'question')
    return <Redirect to={askPath(project.id, environment, asked.get('question') ?? '')} replace />
  return (
    <>
      <Heading title="Try it" within={project.name}>
        Call what is deployed in {environment}, as callers do.
      </Heading>
      <AnyEndpoint
        place={place}
        wanted={asked.get('query')}
        values={valuesIn(asked.get('values'))}
        onChoose={(name) => {
          asked.delete('values')
          asked.set('query', name)
          navigate(`${path}?${asked}`, { replace: true })
        }}
      />
    </>
  )
}

/** Values that came with the address, of a call that was made before. */
function valuesIn(text: string | null): Record<string, unknown> | undefined {
  try {
    const values: unknown = JSON.parse(text ?? '')
    return typeof values === 'object' && values !== null ? (values as Record<string, unknown>) : undefined
  } catch {
    return undefined
  }
}

type AnyProps = {
  place: Place
  wanted: string | null
  values: Record<string, unknown> | undefined
  onChoose: (name: string) => void
}

function AnyEndpoint({ place, wanted, values, onChoose }: AnyProps) {
  const { project, environment } = place
  const deployments = useDeployments(project.id)
  return (
    <Loaded query={deployments}>
      {(list) => {
        const here = list.filter((each) => each.environment === environment)
        const chosen = here.find(({ name }) => name === wanted) ?? here[0]
        if (chosen === undefined) {
          return (
            <Empty icon={<SquareTerminal size={20} />}>
              Nothing is deployed in {environment} yet. What is deployed there can be called here.
            </Empty>
          )
        }
        const choice = (
          <Select
            label="Endpoint"
            data={here.map(({ name }) => name)}
            value={chosen.name}
            onChange={(name) => name !== null && onChoose(name)}
            searchable={here.length > 8}
          />
        )
        return (
          <Console
            key={chosen.name}
            place={place}
            name={chosen.name}
            version={chosen.version}
            choice={choice}
            values={chosen.name === wanted ? values : undefined}
          />
        )
      }}
    </Loaded>
  )
}

type ConsoleProps = {
  place: Place
  name: string
  version: number | null
  choice?: ReactNode
  /** The initial values; else those of the first example. */
  values?: Record<string, unknown> | undefined
}

/** Calls one endpoint. */
export function Console({ place, name, version, choice, values }: ConsoleProps) {
  const found = useVersion({ projectId: place.project.id, name }, version ?? undefined)
  if (version === null) {
    return (
      <Empty icon={<SquareTerminal size={20} />}>
        {name} does not answer in {place.environment}. Deploy it there to call it.
      </Empty>
    )
  }
  return (
    <Loaded query={found}>
      {(content) => (
        <DirectCall key={content.version} place={place} name={name} content={content} choice={choice} values={values} />
      )}
    </Loaded>
  )
}

type DirectProps = {
  place: Place
  name: string
  content: Version
  choice: ReactNode
  values: Record<string, unknown> | undefined
}

function DirectCall({ place, name, content, choice, values }: DirectProps) {
  const { project, environment } = place
  const [typed, setTyped] = useState<Typed>(() => showValues(values ?? content.examples[0]?.parameters))
  const caller = useCaller(place.editor)
  const body = readValues(content.slots, typed)
  const target: CallTarget = { kind: 'direct', projectId: project.id, environment, name }
  const request: CallRequest =
    caller.key === null
      ? {
          // The deployed version, not the draft: its SQL and slots go along.
          path: `/v1/projects/${project.id}/queries/${name}/preview`,
          headers: {},
          body: { parameters: body, sql: content.sql, slots: content.slots },
          key: null,
        }
      : { path: pathOf(target), headers: headersOf(target), body, key: caller.key }
  const [answeredBy, setAnsweredBy] = useState(request)
  const call = useCall((signal) => {
    setAnsweredBy(request)
    return makeCall({ ...request, signal })
  })
  const answered = useComeIntoView<HTMLDivElement>(call.outcome)
  return (
    <Stack gap="lg">
      <div className={classes['console']}>
        <Paper component="section" radius="lg" p="lg" bg="var(--sluice-surface)" bd="1px solid var(--sluice-line)">
          <form
            noValidate
            onSubmit={(event) => {
              event.preventDefault()
              call.start()
            }}
          >
            <Stack gap="md">
              {choice}
              {caller.field}
              <SlotsForm
                projectId={project.id}
                slots={content.slots}
                values={typed}
                errors={errorsOf(call.outcome)}
                onChange={setTyped}
              />
              <CallButtons call={call} verb="Call" ready={caller.key !== ''} />
            </Stack>
          </form>
        </Paper>
        <div ref={answered}>
          <CallAnswer
            call={call}
            waiting={`Call ${name} to see its answer here.`}
            storageKey={`${project.id} query ${name}`}
            download={{ name, fetch: (format) => callForFile(answeredBy, format) }}
            chart={content.chart}
          />
        </div>
      </div>
      <Card title="From your code" about="The same call. Put an API key into the environment as SLUICE_API_KEY.">
        <Snippets target={target} body={body} />
      </Card>
    </Stack>
  )
}

/** The messages of a refusal about slots, beside each of them. */
function errorsOf(outcome: Outcome | undefined): Record<string, string> {
  const details = outcome === undefined ? undefined : refusalOf(outcome.body)?.details
  return Object.fromEntries(
    (details ?? []).map(({ field, message }) => [field.replace(/^parameters\./, ''), sentence(message)]),
  )
}
