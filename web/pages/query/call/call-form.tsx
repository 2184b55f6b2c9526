import { Paper, Stack } from '@mantine/core'
import { useState, type ReactNode } from 'react'
import type { Chart } from '../../../../api/queries.ts'
import { useComeIntoView } from '../../../parts/text/come-into-view.ts'
import { sentence } from '../../../text/field-words.ts'
import classes from '../../deploy/shared/deploy.module.css'
import type { SlotsSchema } from '../../deploy/shared/wire.ts'
import { parametersOf, valuesOf, type SlotValues } from '../slots/slots.ts'
import { CallAnswer, CallButtons, useCall } from './call.tsx'
import { callForFile, makeCall, refusalOf, type CallRequest, type Outcome } from './calls.ts'
import { SlotsForm } from './slots-form.tsx'

type Body = ReturnType<typeof parametersOf>

type Props = {
  name: string
  slots: SlotsSchema
  /** The values to begin with. */
  values: Record<string, unknown> | undefined
  request: (body: Body) => CallRequest
  /** Whether there is somebody to call as. */
  ready?: boolean
  /** Chooses the caller. */
  caller?: ReactNode
  /** Whose tables offer values, to those who may read them. */
  projectId?: string
  chart?: Chart | null
  /** Below it: the same call from elsewhere. */
  children: (body: Body) => ReactNode
}

/** Calls an endpoint as its callers do. */
export function CallForm({ name, slots, values, request, ready = true, caller, projectId, chart, children }: Props) {
  const [typed, setTyped] = useState<SlotValues>(() => valuesOf(values))
  const body = parametersOf(slots, typed)
  const asked = request(body)
  const [answeredBy, setAnsweredBy] = useState(asked)
  const call = useCall((signal) => {
    setAnsweredBy(asked)
    return makeCall({ ...asked, signal })
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
              {caller}
              <SlotsForm
                projectId={projectId}
                slots={slots}
                values={typed}
                errors={errorsOf(call.outcome)}
                onChange={setTyped}
              />
              <CallButtons call={call} verb="Call" ready={ready} />
            </Stack>
          </form>
        </Paper>
        <div ref={answered}>
          <CallAnswer
            call={call}
            waiting={`Call ${name} to see its answer here.`}
            storageKey={projectId === undefined ? undefined : `${projectId} query ${name}`}
            download={{ name, fetch: (format) => callForFile(answeredBy, format) }}
            {...(chart !== undefined && { chart })}
          />
        </div>
      </div>
      {children(body)}
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
