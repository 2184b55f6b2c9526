import { ActionIcon, Menu } from '@mantine/core'
import { Ellipsis } from 'lucide-react'
import { useState } from 'react'
import { call } from '../../client/api.ts'
import { Confirm } from '../../parts/form/confirm.tsx'
import { RotateDialog } from '../../parts/form/rotate-dialog.tsx'
import { useAct } from '../../client/queries.ts'
import { EditKeyDialog } from './edit-key-dialog.tsx'
import { deployKeys } from '../deploy/shared/queries.ts'
import type { ApiKey } from '../deploy/shared/wire.ts'

type Asking = 'edit' | 'rotate' | 'disable' | 'revoke' | null

const refresh = [deployKeys.apiKeys]

/** The acts on a key. Each asks first, except those that take nothing away. */
export function KeyActs({ apiKey: key }: { apiKey: ApiKey }) {
  const [asking, setAsking] = useState<Asking>(null)
  const path = `/v1/api-keys/${key.id}`
  const enable = useAct(() => call<ApiKey>('POST', `${path}/enable`), {
    refresh,
    say: () => `${key.name} works again.`,
  })
  const disable = useAct(() => call<ApiKey>('POST', `${path}/disable`), {
    refresh,
    say: () => `${key.name} is disabled.`,
  })
  const revoke = useAct(() => call<undefined>('DELETE', path), { refresh, say: () => `${key.name} is revoked.` })
  const close = (): void => setAsking(null)
  if (key.status === 'revoked') return null
  return (
    <>
      <Menu position="bottom-end" width={180} shadow="md" withInitialFocusPlaceholder={false}>
        <Menu.Target>
          <ActionIcon variant="subtle" color="gray" aria-label={`What to do with ${key.name}`}>
            <Ellipsis size={16} aria-hidden />
          </ActionIcon>
        </Menu.Target>
        <Menu.Dropdown>
          <Menu.Item onClick={() => setAsking('edit')}>Edit…</Menu.Item>
          {key.status === 'active' && <Menu.Item onClick={() => setAsking('rotate')}>Rotate…</Menu.Item>}
          {key.status === 'active' && <Menu.Item onClick={() => setAsking('disable')}>Disable…</Menu.Item>}
          {key.status === 'disabled' && <Menu.Item onClick={() => enable.mutate()}>Enable</Menu.Item>}
          <Menu.Item c="var(--sluice-danger)" onClick={() => setAsking('revoke')}>
            Revoke…
          </Menu.Item>
        </Menu.Dropdown>
      </Menu>
      <EditKeyDialog apiKey={key} opened={asking === 'edit'} onClose={close} />
      <RotateDialog
        name={key.name}
        path={`${path}/rotate`}
        refresh={refresh}
        label="API key"
        ended="The old secret is refused from now on."
        grace={(time) => `Put it where the old one is. Until then the old one works for ${time} more.`}
        opened={asking === 'rotate'}
        onClose={close}
      >
        The key gets a new secret and keeps everything else.
      </RotateDialog>
      <Confirm
        opened={asking === 'disable'}
        onClose={close}
        title={`Disable ${key.name}`}
        verb={`Disable ${key.name}`}
        act={disable}
      >
        Whatever calls with it is refused within a second, until you enable it again. Its secret stays the same.
      </Confirm>
      <Confirm
        opened={asking === 'revoke'}
        onClose={close}
        title={`Revoke ${key.name}`}
        verb={`Revoke ${key.name}`}
        act={revoke}
      >
        Whatever calls with it is refused within a second. This cannot be undone; a new key has a new secret.
      </Confirm>
    </>
  )
}
