import { Paper, Stack } from '@mantine/core'
import { useState } from 'react'
import { Card } from '../../../parts/text/card.tsx'
import { useComeIntoView } from '../../../parts/text/come-into-view.ts'
import { sentence } from '../../../text/field-words.ts'
import { CallAnswer, CallButtons, useCall, useCaller } from '../call/call.tsx'
import { callForFile, makeCall, refusalOf, type CallRequest, type Outcome } from '../call/calls.ts'
import classes from '../../deploy/shared/deploy.module.css'
import type { Place } from '../../deploy/shared/place.ts'
import { headersOf, pathOf, type CallTarget } from '../call/snippet-text.ts'
import { Snippets } from '../call/snippets.tsx'
import { parametersOf, valuesOf, type SlotValues } from '../slots/slots.ts'
import { SlotsForm } from '../call/slots-form.tsx'
import type { Version } from '../../deploy/shared/wire.ts'

type Props = {
  place: Place
  name: string
  content: Version
  /** The initial values; else those of the first example. */
  values?: Record<string, unknown> | undefined
}

/** Calls an endpoint as its callers do. */
export function Console({ place, name, content, values }: Props) {
  const { project, environment } = place
  const [typed, setTyped] = useState<SlotValues>(() => valuesOf(values ?? content.examples[0]?.parameters))
  const caller = useCaller(place.editor)
  const body = parametersOf(content.slots, typed)
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
