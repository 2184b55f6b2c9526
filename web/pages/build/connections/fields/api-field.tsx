import { Button, Group, Modal, Select } from '@mantine/core'
import { useState } from 'react'
import { useApis } from '../../../../client/queries.ts'
import type { Api, Project } from '../../../../client/wire.ts'
import { ApiForm } from './api-form.tsx'
import type { Draft } from './draft.ts'

/** The entry that makes one: no API has such a name. */
const newApi = '…'

type Props = { project: Project; draft: Draft; onChange: (part: Partial<Draft>) => void; disabled: boolean }

/** The API of the connection: address, headers, authentication and rate that several connections share. */
export function ApiField({ project, draft, onChange, disabled }: Props) {
  const apis = useApis(project.id)
  const [open, setOpen] = useState<{ api: Api | null } | null>(null)
  const all = apis.data ?? []
  const chosen = all.find(({ name }) => name === draft.api)
  const close = (): void => setOpen(null)
  return (
    <>
      <Group align="flex-end" gap="xs" flex="1 1 12rem" wrap="nowrap">
        <Select
          label="API"
          description={chosen === undefined ? 'Shares its address and authentication.' : textOf(chosen)}
          flex={1}
          data={[
            { value: '', label: 'None' },
            ...all.map(({ name }) => ({ value: name, label: name })),
            { value: newApi, label: 'New API…' },
          ]}
          value={draft.api ?? ''}
          allowDeselect={false}
          disabled={disabled}
          onChange={(name) => {
            if (name === newApi) setOpen({ api: null })
            else onChange({ api: name === null || name === '' ? undefined : name })
          }}
        />
        {!disabled && chosen !== undefined && (
          <Button variant="default" onClick={() => setOpen({ api: chosen })}>
            Edit API
          </Button>
        )}
      </Group>
      <Modal
        opened={open !== null}
        onClose={close}
        size="lg"
        title={open?.api === null || open === null ? 'New API' : `API ${open.api.name}`}
      >
        {open !== null && (
          <ApiForm
            project={project}
            api={open.api}
            onClose={close}
            onSaved={({ name }) => (open.api === null ? onChange({ api: name }) : undefined)}
          />
        )}
      </Modal>
    </>
  )
}

function textOf({ config, rate }: Api): string {
  const parts = [
    String(config['url']),
    rate?.requests === undefined ? null : `${rate.requests} a ${rate.per}`,
    rate?.concurrency === undefined ? null : `${rate.concurrency} at once`,
  ]
  return parts.filter((part) => part !== null).join(' · ')
}
