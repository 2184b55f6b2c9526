import { Code, Divider, Input, Select, Stack, Switch, Tabs, Textarea, TextInput, VisuallyHidden } from '@mantine/core'
import { useState, type ReactNode } from 'react'
import { useSearch } from 'wouter'
import type { Api } from '../../../client/wire.ts'
import { AuthFields } from './fields/auth-fields.tsx'
import { methodsWithBody, type Draft } from './fields/draft.ts'
import { GroupFields, PaginationFields, ScheduleFields } from './fields/fetching-fields.tsx'
import { LoadFields } from './fields/load-fields.tsx'
import { Pairs } from './fields/pairs.tsx'
import { StepFields } from './fields/step-fields.tsx'
import classes from './fields/connection.module.css'

type Props = { draft: Draft; onChange: (part: Partial<Draft>) => void; disabled: boolean }
type PaneProps = Props & {
  /** The API that says what the request leaves out. */
  api: Api | undefined
  /** Whose variables it means. */
  environment: ReactNode
  /** Connects it by an authorization code. */
  connect: ReactNode
  /** Makes it a request for each row of another table. */
  forEach: ReactNode
  /** Keys of the answer that are known from the data. */
  fields: string[]
}

const parts = [
  { value: 'request', label: 'Request', count: countOfRequest },
  { value: 'authentication', label: 'Authentication', count: ({ authType }: Draft) => (authType === 'None' ? 0 : 1) },
  {
    value: 'rows',
    label: 'Rows and pages',
    count: ({ extractor, pagination, steps, forEach }: Draft) =>
      [extractor !== '', pagination !== null, forEach !== null].filter(Boolean).length + steps.length,
  },
  {
    value: 'refresh',
    label: 'Refresh',
    count: ({ load, schedule }: Draft) => [load.mode !== 'replace', schedule !== ''].filter(Boolean).length,
  },
]

function countOfRequest({ parameters, groups, headers, body, method }: Draft): number {
  const hasBody = body.trim() !== '' && methodsWithBody.has(method)
  return parameters.length + groups.length + headers.length + (hasBody ? 1 : 0)
}

/** Parts of earlier versions, by those that hold their fields now. */
const movedParts: Record<string, string> = {
  params: 'request',
  headers: 'request',
  body: 'request',
  auth: 'authentication',
  extract: 'rows',
  pages: 'rows',
  each: 'rows',
  load: 'refresh',
  schedule: 'refresh',
}

/** Everything about the request but its method and address. */
export function RequestPane(props: PaneProps) {
  const { draft, fields: known, onChange, disabled, api, environment, connect, forEach } = props
  const search = useSearch()
  const asked = new URLSearchParams(search).get('part') ?? ''
  // An address that asks for a part again goes before what was picked since.
  const [picked, setPicked] = useState<{ part: string | null; search: string } | null>(null)
  const first = parts.find(({ value }) => value === (movedParts[asked] ?? asked))?.value ?? 'request'
  const part = picked?.search === search ? picked.part : first
  const fields = { draft, onChange, disabled }
  return (
    <Tabs value={part} onChange={(value) => setPicked({ part: value, search })} keepMounted={false}>
      <Tabs.List className={classes.parts ?? ''} aria-label="Parts of the request">
        {parts.map(({ value, label, count }) => (
          <Tabs.Tab key={value} value={value} className={classes.part ?? ''}>
            {label}
            {count(draft) > 0 && (
              <>
                <span className={classes.count} aria-hidden>
                  {count(draft)}
                </span>
                <VisuallyHidden>{count(draft)} set</VisuallyHidden>
              </>
            )}
          </Tabs.Tab>
        ))}
      </Tabs.List>
      <div className={classes.fields}>
        <Tabs.Panel value="request">
          <RequestFields {...fields} />
          {environment}
        </Tabs.Panel>
        <Tabs.Panel value="authentication">
          <AuthFields {...fields} api={api} connect={connect} />
        </Tabs.Panel>
        <Tabs.Panel value="rows">
          <ExtractFields {...fields} />
          <Divider my="md" />
          <PaginationFields {...fields} />
          <Divider my="md" />
          {forEach}
          <Divider my="md" />
          <StepFields {...fields} />
        </Tabs.Panel>
        <Tabs.Panel value="refresh">
          <ScheduleFields {...fields} />
          <Divider my="md" />
          <LoadFields {...fields} fields={known} />
        </Tabs.Panel>
      </div>
    </Tabs>
  )
}

function RequestFields({ draft, onChange, disabled }: Props) {
  return (
    <Stack gap="md">
      <Input.Wrapper label="Parameters" labelElement="div">
        <Pairs
          what="parameter"
          withRequired
          pairs={draft.parameters}
          disabled={disabled}
          onChange={(parameters) => onChange({ parameters })}
        />
        <GroupFields draft={draft} onChange={onChange} disabled={disabled} />
      </Input.Wrapper>
      <Input.Wrapper label="Headers" labelElement="div">
        <Pairs what="header" pairs={draft.headers} disabled={disabled} onChange={(headers) => onChange({ headers })} />
      </Input.Wrapper>
      {methodsWithBody.has(draft.method) && <BodyFields draft={draft} onChange={onChange} disabled={disabled} />}
    </Stack>
  )
}

const bodyTypes = [
  { value: 'json', label: 'JSON' },
  { value: 'form', label: 'Form fields' },
  { value: 'multipart', label: 'Form with parts' },
  { value: 'graphql', label: 'GraphQL' },
  { value: 'raw', label: 'Text as it is' },
]

function BodyFields({ draft, onChange, disabled }: Props) {
  const fields = draft.bodyType === 'form' || draft.bodyType === 'multipart'
  return (
    <Stack gap="xs">
      <Select
        label="Kind of body"
        maw="16rem"
        data={bodyTypes}
        value={draft.bodyType}
        disabled={disabled}
        onChange={(bodyType) => onChange({ bodyType: bodyType ?? 'json' })}
      />
      <Textarea
        label="Body"
        description={
          fields ? 'One name=value a line; fields with a secret name are sealed.' : 'Stored with the connection.'
        }
        autosize
        minRows={6}
        maxRows={16}
        spellCheck={false}
        classNames={{ input: classes.code ?? '' }}
        value={draft.body}
        disabled={disabled}
        onChange={(event) => onChange({ body: event.currentTarget.value })}
      />
    </Stack>
  )
}

function ExtractFields({ draft, onChange, disabled }: Props) {
  return (
    <Stack gap="sm" maw="26rem">
      <TextInput
        label="Rows are at"
        description={
          <>
            A key path such as <Code>data.items</Code>, or click a key in the tested response. Empty: the whole
            response.
          </>
        }
        placeholder="data.items"
        classNames={{ input: classes.code ?? '' }}
        value={draft.extractor}
        disabled={disabled}
        onChange={(event) => onChange({ extractor: event.currentTarget.value })}
      />
      <Switch
        label="Join what the answer includes (JSON:API)"
        description="Each row gets the resources of “included” that its relationships name."
        checked={draft.included}
        disabled={disabled}
        onChange={(event) => onChange({ included: event.currentTarget.checked })}
      />
    </Stack>
  )
}
