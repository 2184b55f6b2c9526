import { Button, Group, Paper, PasswordInput, SegmentedControl, Select, Stack, Text, Title } from '@mantine/core'
import { useMutation } from '@tanstack/react-query'
import { Play, SquareTerminal } from 'lucide-react'
import { useRef, useState, type ReactNode } from 'react'
import { useLocation, useSearch } from 'wouter'
import { Card } from '../../parts/card.tsx'
import { Empty } from '../../parts/empty.tsx'
import { Heading } from '../../parts/heading.tsx'
import { Loaded } from '../../parts/loaded.tsx'
import { RefusalNotice } from '../../parts/refusal.tsx'
import { Answer } from './answer.tsx'
import { makeCall, refusalOf, type Outcome } from './calls.ts'
import classes from './deploy.module.css'
import type { Place } from './place.ts'
import { useDeployments, useVersion } from './queries.ts'
import { headersOf, pathOf, type CallTarget } from './snippet-text.ts'
import { Snippets } from './snippets.tsx'
import { readValues, showValues, type Typed } from './slot-values.ts'
import { SlotsForm } from './slots-form.tsx'
import type { Version } from './wire.ts'

/** The console: any endpoint of the environment. The choice is in the address. */
export function TryPage({ place }: { place: Place }) {
  const { project, environment } = place
  const deployments = useDeployments(project.id)
  const [path, navigate] = useLocation()
  const asked = new URLSearchParams(useSearch())
  const choose = (name: string): void => {
    asked.set('query', name)
    navigate(`${path}?${asked}`, { replace: true })
  }
  return (
    <>
      <Heading title="Try it" within={project.name}>
        Call what is deployed in {environment}, as callers do.
      </Heading>
      <Loaded query={deployments}>
        {(list) => {
          const here = list.filter((each) => each.environment === environment)
          const chosen = here.find(({ name }) => name === asked.get('query')) ?? here[0]
          if (chosen === undefined) {
            return (
              <Empty icon={<SquareTerminal size={20} />}>
                Nothing is deployed in {environment} yet. What is deployed there can be called here.
              </Empty>
            )
          }
          return (
            <Console
              key={chosen.name}
              place={place}
              name={chosen.name}
              version={chosen.version}
              choice={
                <Select
                  label="Endpoint"
                  data={here.map(({ name }) => name)}
                  value={chosen.name}
                  onChange={(name) => name !== null && choose(name)}
                  searchable={here.length > 8}
                />
              }
            />
          )
        }}
      </Loaded>
    </>
  )
}

type ConsoleProps = { place: Place; name: string; version: number | null; choice?: ReactNode }

/** Calls one endpoint. */
export function Console({ place, name, version, choice }: ConsoleProps) {
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
      {(content) => <DirectCall key={content.version} place={place} name={name} content={content} choice={choice} />}
    </Loaded>
  )
}

type DirectProps = { place: Place; name: string; content: Version; choice: ReactNode }

function DirectCall({ place, name, content, choice }: DirectProps) {
  const { project, environment } = place
  const [typed, setTyped] = useState<Typed>(() => showValues(content.examples[0]?.parameters))
  const caller = useCaller(place)
  const body = readValues(content.slots, typed)
  const target: CallTarget = { kind: 'direct', projectId: project.id, environment, name }
  const call = useCall((signal) =>
    caller.key === null
      ? {
          // What is deployed, not the draft: its SQL and slots go along.
          path: `/v1/projects/${project.id}/queries/${name}/preview`,
          headers: {},
          body: { parameters: body, sql: content.sql, slots: content.slots },
          key: null,
          signal,
        }
      : { path: pathOf(target), headers: headersOf(target), body, key: caller.key, signal },
  )
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
              <SlotsForm slots={content.slots} values={typed} errors={errorsOf(call.outcome)} onChange={setTyped} />
              <CallButtons call={call} verb="Call" ready={caller.key !== ''} />
            </Stack>
          </form>
        </Paper>
        <CallAnswer call={call} waiting={`Call ${name} to see its answer here.`} />
      </div>
      <Card title="From your code" about="The same call. Put an API key into the environment as SLUICE_API_KEY.">
        <Snippets target={target} body={body} />
      </Card>
    </Stack>
  )
}

type Call = { start: () => void; stop: () => void; pending: boolean; outcome: Outcome | undefined; error: Error | null }

function useCall(request: (signal: AbortSignal) => Parameters<typeof makeCall>[0]): Call {
  const running = useRef<AbortController>(null)
  const act = useMutation({
    mutationFn: () => {
      running.current?.abort()
      running.current = new AbortController()
      return makeCall(request(running.current.signal))
    },
  })
  return {
    start: () => act.mutate(),
    stop: () => running.current?.abort(),
    pending: act.isPending,
    outcome: act.data,
    error: act.error?.name === 'AbortError' ? null : act.error,
  }
}

function CallButtons({ call, verb, ready }: { call: Call; verb: string; ready: boolean }) {
  return (
    <Group gap="sm">
      <Button type="submit" leftSection={<Play size={15} aria-hidden />} disabled={!ready} loading={call.pending}>
        {verb}
      </Button>
      {call.pending && (
        <Button variant="default" onClick={call.stop}>
          Cancel
        </Button>
      )}
    </Group>
  )
}

function CallAnswer({ call, waiting }: { call: Call; waiting: string }) {
  return (
    <section>
      <Title order={2} mb="sm">
        Answer
      </Title>
      <RefusalNotice error={call.error} />
      {call.outcome === undefined ? (
        call.error === null && <Text c="dimmed">{waiting}</Text>
      ) : (
        <Answer outcome={call.outcome} />
      )}
    </section>
  )
}

/** Who calls: the signed-in person, or a key, which this page keeps for as long as it is shown and no longer. */
function useCaller(place: Place): { key: string | null; field: ReactNode } {
  const [asSelf, setAsSelf] = useState(place.editor)
  const [key, setKey] = useState('')
  const field = (
    <Stack gap="xs">
      {place.editor ? (
        <SegmentedControl
          fullWidth
          aria-label="Call as"
          value={asSelf ? 'self' : 'key'}
          onChange={(value) => setAsSelf(value === 'self')}
          data={[
            { value: 'self', label: 'As me' },
            { value: 'key', label: 'With a key' },
          ]}
        />
      ) : (
        <Text c="dimmed" size="xs">
          You are a viewer here: calls need an API key.
        </Text>
      )}
      {!asSelf && (
        <PasswordInput
          label="API key"
          description="Forgotten when you leave the page."
          placeholder="slc_live_…"
          autoComplete="off"
          spellCheck={false}
          value={key}
          onChange={(event) => setKey(event.currentTarget.value.trim())}
        />
      )}
    </Stack>
  )
  return { key: asSelf ? null : key, field }
}

/** What a refusal says about slots, beside each of them. */
function errorsOf(outcome: Outcome | undefined): Record<string, string> {
  const details = outcome === undefined ? undefined : refusalOf(outcome.body)?.details
  return Object.fromEntries((details ?? []).map(({ field, message }) => [field.replace(/^parameters\./, ''), message]))
}
