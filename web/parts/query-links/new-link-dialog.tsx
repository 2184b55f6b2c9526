import { NumberInput, Select, TextInput } from '@mantine/core'
import { useState } from 'react'
import { call } from '../../client/api.ts'
import { useAct } from '../../client/queries.ts'
import type { CreatedQueryLink } from '../../client/wire.ts'
import { ActForm } from '../form/act-form.tsx'
import { endAfter, lifetimes } from '../form/lifetimes.ts'
import { SecretDialog } from '../form/secret-dialog.tsx'

type LinkTarget = { projectId: string; environment: string; query: string }
type Props = { target: LinkTarget; parameters: Record<string, unknown>; opened: boolean; onClose: () => void }

/** A link with its values, its end and its limit. Its address is shown once. */
export function NewLinkDialog({ target, parameters, opened, onClose }: Props) {
  const { projectId, environment, query } = target
  const make = useAct(
    (body: object) => call<CreatedQueryLink>('POST', `/v1/projects/${projectId}/query-links`, { body }),
    { refresh: [['projects', projectId, 'query-links', query]] },
  )
  const close = (): void => {
    make.reset()
    onClose()
  }
  const [values, setValues] = useState(() => shown(parameters))
  const [days, setDays] = useState('30')
  const [perDay, setPerDay] = useState<number | string>(1_000)
  const send = (): void =>
    make.mutate({
      query,
      environment,
      parameters: read(values),
      expires_at: endAfter(Number(days)),
      daily_quota: Number(perDay),
    })
  return (
    <SecretDialog
      opened={opened}
      onClose={close}
      title={`New link to ${query}`}
      secretTitle={`Link to ${query}`}
      size="lg"
      secret={make.data === undefined ? undefined : `${make.data.url}.csv`}
      label="Address of the rows as CSV"
      about={
        'Anyone with it reads these rows. End it with .xlsx for Excel or .parquet for DuckDB. In Google Sheets: =IMPORTDATA("…").'
      }
    >
      <ActForm onSubmit={() => send()} act={make} verb="Make link" onClose={close}>
        {Object.entries(values).map(([name, value]) => (
          <TextInput
            key={name}
            label={name}
            value={value}
            onChange={({ currentTarget: { value: typed } }) => setValues({ ...values, [name]: typed })}
          />
        ))}
        <Select
          label="Expires"
          data={lifetimes.filter(({ value }) => value !== '')}
          value={days}
          allowDeselect={false}
          onChange={(value) => setDays(value ?? '30')}
        />
        <NumberInput label="Calls a day" min={1} value={perDay} onChange={setPerDay} />
      </ActForm>
    </SecretDialog>
  )
}

function shown(parameters: Record<string, unknown>): Record<string, string> {
  return Object.fromEntries(Object.entries(parameters).map(([name, value]) => [name, String(value)]))
}

/** A slot that is left empty is left out. */
function read(values: Record<string, string>): Record<string, string> {
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== ''))
}
