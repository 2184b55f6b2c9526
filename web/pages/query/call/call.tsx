import { Button, Group, PasswordInput, SegmentedControl, Stack, Text, Title } from '@mantine/core'
import { Play } from 'lucide-react'
import { useState, type ReactNode } from 'react'
import type { Chart } from '../../../../api/queries.ts'
import type { Download } from '../../../parts/cells/model.ts'
import { RefusalNotice } from '../../../parts/text/refusal.tsx'
import { useStoppable } from '../../../client/queries.ts'
import { Answer } from './answer.tsx'
import type { Outcome } from './calls.ts'

export type Call<Input = void> = {
  start: (input: Input) => void
  stop: () => void
  pending: boolean
  stopped: boolean
  outcome: Outcome | undefined
  error: Error | null
}

export function useCall<Input = void>(make: (signal: AbortSignal, input: Input) => Promise<Outcome>): Call<Input> {
  const act = useStoppable((input: Input, signal) => make(signal, input))
  return {
    start: (input) => act.mutate(input),
    stop: act.stop,
    pending: act.isPending,
    stopped: act.stopped,
    outcome: act.data,
    error: act.error,
  }
}

type Shown = Omit<Call, 'start'>

export function CallButtons({ call, verb, ready }: { call: Shown; verb: string; ready: boolean }) {
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

type AnswerProps = {
  call: Shown
  waiting: string
  storageKey?: string | undefined
  download?: Download | undefined
  chart?: Chart | null
}

export function CallAnswer({ call, waiting, storageKey, download, chart = null }: AnswerProps) {
  return (
    <section>
      <Title order={2} mb="sm">
        Answer
      </Title>
      <RefusalNotice error={call.error} />
      {call.outcome === undefined ? (
        call.error === null && (
          <Text c="dimmed" aria-live="polite">
            {call.stopped ? 'Cancelled: nobody waited for the answer.' : waiting}
          </Text>
        )
      ) : (
        <Answer outcome={call.outcome} storageKey={storageKey} download={download} chart={chart} />
      )}
    </section>
  )
}

/** The caller: the signed-in person, or a key, which this page holds while it is shown and no longer. */
export function useCaller(selfToo: boolean): { key: string | null; field: ReactNode } {
  const [asSelf, setAsSelf] = useState(selfToo)
  const [key, setKey] = useState('')
  const field = (
    <Stack gap="xs">
      {selfToo ? (
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
          visibilityToggleButtonProps={{ 'aria-label': 'Show the key' }}
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
