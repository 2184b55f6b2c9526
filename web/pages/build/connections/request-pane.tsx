import { Code, Select, Stack, Switch, Tabs, Text, Textarea, TextInput, VisuallyHidden } from '@mantine/core'
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
  { value: 'params', label: 'Params', count: (draft: Draft) => draft.parameters.length + draft.groups.length },
  { value: 'headers', label: 'Headers', count: (draft: Draft) => draft.headers.length },
  { value: 'auth', label: 'Auth', count: (draft: Draft) => (draft.authType === 'None' ? 0 : 1) },
  {
    value: 'body',
    label: 'Body',
    count: (draft: Draft) => (draft.body.trim() === '' || !methodsWithBody.has(draft.method) ? 0 : 1),
  },
  { value: 'extract', label: 'Extract', count: (draft: Draft) => (draft.extractor === '' ? 0 : 1) },
  {
    value: 'pages',
    label: 'Pages',
    count: (draft: Draft) => (draft.pagination === null ? 0 : 1) + draft.steps.length,
  },
  { value: 'each', label: 'For each', count: (draft: Draft) => (draft.forEach === null ? 0 : 1) },
  { value: 'load', label: 'Load', count: (draft: Draft) => (draft.load.mode === 'replace' ? 0 : 1) },
  { value: 'schedule', label: 'Schedule', count: (draft: Draft) => (draft.schedule === '' ? 0 : 1) },
]

/** Everything about the request but its method and address. */
export function RequestPane(props: PaneProps) {
  const { draft, fields: known, onChange, disabled, api, environment, connect, forEach } = props
  const search = useSearch()
  const asked = new URLSearchParams(search).get('part')
  // An address that asks for a part again goes before what was picked since.
  const [picked, setPicked] = useState<{ part: string | null; search: string } | null>(null)
  const first = parts.some(({ value }) => value === asked) ? asked : 'params'
  const part = picked?.search === search ? picked.part : first
  const setPart = (value: string | null) => setPicked({ part: value, search })
  const fields = { draft, onChange, disabled }
  return (
    <Tabs value={part} onChange={setPart} keepMounted={false}>
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
        <Tabs.Panel value="params">
          <Pairs
            what="parameter"
            withRequired
            pairs={draft.parameters}
            disabled={disabled}
            onChange={(parameters) => onChange({ parameters })}
          />
          <GroupFields {...fields} />
          {environment}
        </Tabs.Panel>
        <Tabs.Panel value="headers">
          <Pairs
            what="header"
            pairs={draft.headers}
            disabled={disabled}
            onChange={(headers) => onChange({ headers })}
          />
        </Tabs.Panel>
        <Tabs.Panel value="auth">
          <AuthFields {...fields} api={api} connect={connect} />
        </Tabs.Panel>
        <Tabs.Panel value="body">
          <BodyFields {...fields} />
        </Tabs.Panel>
        <Tabs.Panel value="extract">
          <ExtractFields {...fields} />
        </Tabs.Panel>
        <Tabs.Panel value="pages">
          <PaginationFields {...fields} />
          <StepFields {...fields} />
        </Tabs.Panel>
        <Tabs.Panel value="each">{forEach}</Tabs.Panel>
        <Tabs.Panel value="load">
          <LoadFields {...fields} fields={known} />
        </Tabs.Panel>
        <Tabs.Panel value="schedule">
          <ScheduleFields {...fields} />
        </Tabs.Panel>
      </div>
    </Tabs>
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
    <Stack gap="sm">
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
        description={fields ? 'One name=value a line.' : undefined}
        autosize
        minRows={6}
        maxRows={16}
        spellCheck={false}
        classNames={{ input: classes.code ?? '' }}
        value={draft.body}
        disabled={disabled}
        onChange={(event) => onChange({ body: event.currentTarget.value })}
      />
      <Text size="xs" c="dimmed">
        {methodsWithBody.has(draft.method)
          ? 'It is stored with the connection, fields with a secret name sealed. The data is loaded in the background.'
          : `A body goes with POST, PUT, PATCH and DELETE, not with ${draft.method}.`}
      </Text>
    </Stack>
  )
}

function ExtractFields({ draft, onChange, disabled }: Props) {
  return (
    <Stack gap="md">
      <TextInput
        label="Rows are at"
        description={
          <>
            A key path such as <Code>data.items</Code>. Empty takes the whole response. Test, then click a key in the
            response to fill it.
          </>
        }
        placeholder="data.items"
        spellCheck={false}
        autoComplete="off"
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
