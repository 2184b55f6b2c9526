import { Button, Group, Input, NumberInput, Select, Stack, Text, TextInput } from '@mantine/core'
import { useState } from 'react'
import { call } from '../../../../client/api.ts'
import { keys, useAct } from '../../../../client/queries.ts'
import { thingKeys } from '../../../../client/things.ts'
import type { Api, NewApi, Project } from '../../../../client/wire.ts'
import { typed } from '../../../../parts/form/typed.ts'
import { AskFirst } from '../../../../parts/form/confirm.tsx'
import { FormEnd } from '../../../../parts/form/act-form.tsx'
import type { Configuration } from '../../shared/wire.ts'
import { AuthFields } from './auth-fields.tsx'
import { configurationOf, emptyDraft, readConfiguration, type Draft } from './draft.ts'
import { Pairs } from './pairs.tsx'
import classes from './connection.module.css'

type Props = { project: Project; api: Api | null; onClose: () => void; onSaved: (api: Api) => void }

type Rate = { requests: number | string; per: string; concurrency: number | string }
const periods = ['second', 'minute', 'hour', 'day'] as const

/** Address, authentication and rate that connections of one API share. */
export function ApiForm({ project, api, onClose, onSaved }: Props) {
  const editor = project.role !== 'viewer'
  const path = `/v1/projects/${project.id}/apis`
  const refresh = [keys.apis(project.id), thingKeys.sources(project.id)]
  const [draft, setDraft] = useState<Draft>(() => draftOf(api))
  const [rate, setRate] = useState<Rate>(() => rateOf(api))
  const [tries, setTries] = useState<number | string>(api?.tries ?? '')
  const change = (part: Partial<Draft>): void => setDraft((before) => ({ ...before, ...part }))
  const save = useAct(
    () => {
      const { method: _, ...config } = configurationOf(draft)
      const body = { name: draft.name.trim(), config, rate: wireRate(rate), tries: tries === '' ? null : Number(tries) }
      if (api !== null) return call<Api>('PATCH', `${path}/${api.id}`, { body })
      return call<Api>('POST', path, { body })
    },
    { refresh, say: ({ name }) => `${name} is saved.` },
  )
  const text = typed(draft, change, !editor)
  const fields = { draft, onChange: change, disabled: !editor }
  return (
    <form
      noValidate
      onSubmit={(event) => {
        event.preventDefault()
        // Within the form of the connection, which is another.
        event.stopPropagation()
        save.mutate(undefined, {
          onSuccess: (saved) => {
            onSaved(saved)
            onClose()
          },
        })
      }}
    >
      <Stack gap="md">
        <TextInput
          label="Name"
          description={`Lower-case letters, digits and _.${api === null ? '' : ' Its connections follow a new name.'}`}
          placeholder="shop"
          data-autofocus={api === null || undefined}
          {...text('name')}
        />
        <TextInput
          label="Base address"
          description="Each connection adds its path."
          placeholder="https://api.example.com/v1"
          inputMode="url"
          classNames={{ input: classes.code ?? '' }}
          {...text('url')}
        />
        <AuthFields
          {...fields}
          connect={
            <Text size="xs" c="dimmed">
              Save it, then connect in any of its connections: that holds for all of them.
            </Text>
          }
        />
        <PairFields {...fields} />
        <RateFields rate={rate} onRate={setRate} tries={tries} onTries={setTries} disabled={!editor} />
        {editor && <FormEnd act={save} verb="Save" onClose={onClose} disabled={draft.url.trim() === ''} />}
        {editor && api !== null && <DeleteApi path={path} api={api} refresh={refresh} />}
      </Stack>
    </form>
  )
}

type PairsProps = { draft: Draft; onChange: (part: Partial<Draft>) => void; disabled: boolean }

function PairFields({ draft, onChange, disabled }: PairsProps) {
  return (
    <>
      <Input.Wrapper label="Headers">
        <Pairs what="header" pairs={draft.headers} disabled={disabled} onChange={(headers) => onChange({ headers })} />
      </Input.Wrapper>
      <Input.Wrapper label="Parameters">
        <Pairs
          what="parameter"
          pairs={draft.parameters}
          disabled={disabled}
          onChange={(parameters) => onChange({ parameters })}
        />
      </Input.Wrapper>
    </>
  )
}

type RateProps = {
  rate: Rate
  onRate: (rate: Rate) => void
  tries: number | string
  onTries: (tries: number | string) => void
  disabled: boolean
}

function RateFields({ rate, onRate, tries, onTries, disabled }: RateProps) {
  return (
    <>
      <Group gap="sm" align="flex-end">
        <NumberInput
          label="Calls, at most"
          placeholder="any"
          w="8rem"
          min={1}
          max={10_000}
          allowDecimal={false}
          value={rate.requests}
          disabled={disabled}
          onChange={(requests) => onRate({ ...rate, requests })}
        />
        <Select
          label="in a"
          w="7rem"
          data={[...periods]}
          allowDeselect={false}
          value={rate.per}
          disabled={disabled}
          onChange={(per) => onRate({ ...rate, per: per ?? 'second' })}
        />
        <NumberInput
          label="At once"
          placeholder="any"
          w="6rem"
          min={1}
          max={100}
          allowDecimal={false}
          value={rate.concurrency}
          disabled={disabled}
          onChange={(concurrency) => onRate({ ...rate, concurrency })}
        />
        <NumberInput
          label="Tries of a call"
          placeholder="usual"
          w="8rem"
          min={1}
          max={10}
          allowDecimal={false}
          value={tries}
          disabled={disabled}
          onChange={onTries}
        />
      </Group>
      <Text size="xs" c="dimmed">
        The rate holds over all connections. Retry-After and RateLimit headers of the API are followed besides.
      </Text>
    </>
  )
}

type DeleteProps = { path: string; api: Api; refresh: Array<readonly unknown[]> }

function DeleteApi({ path, api: { id, name, connections }, refresh }: DeleteProps) {
  const remove = useAct(() => call<undefined>('DELETE', `${path}/${id}`), { refresh, say: () => `${name} is deleted.` })
  return (
    <Group justify="flex-start">
      <AskFirst
        renderButton={(ask) => (
          <Button variant="subtle" color="gray" size="xs" onClick={ask}>
            Delete {name}
          </Button>
        )}
        verb={`Delete ${name}`}
        act={remove}
      >
        {connections === 0
          ? 'No connection uses it.'
          : `${connections} ${connections === 1 ? 'connection uses' : 'connections use'} it: while one does, it stays.`}
      </AskFirst>
    </Group>
  )
}

function draftOf(api: Api | null): Draft {
  if (api === null) return emptyDraft
  return { ...emptyDraft, ...readConfiguration({ ...api.config, method: 'GET' } as Configuration), name: api.name }
}

function rateOf(api: Api | null): Rate {
  const { requests = '', per = 'second', concurrency = '' } = api?.rate ?? {}
  return { requests, per, concurrency }
}

function wireRate({ requests, per, concurrency }: Rate): NewApi['rate'] {
  if (requests === '' && concurrency === '') return null
  return {
    ...(requests !== '' && { requests: Number(requests) }),
    per: periods.find((each) => each === per) ?? 'second',
    ...(concurrency !== '' && { concurrency: Number(concurrency) }),
  }
}
