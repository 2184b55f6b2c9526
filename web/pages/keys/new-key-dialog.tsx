import { call } from '../../client/api.ts'
import { SecretDialog } from '../../parts/form/secret-dialog.tsx'
import { useAct } from '../../client/queries.ts'
import type { Project } from '../../client/wire.ts'
import { KeyForm } from './key-form.tsx'
import { emptyKey, newKeyOf, type KeyValues } from './key-values.ts'
import { deployKeys } from '../deploy/shared/queries.ts'
import type { CreatedApiKey } from '../deploy/shared/wire.ts'

type Props = { project: Project; opened: boolean; onClose: () => void }

/** First what it reaches, then the secret. */
export function NewKeyDialog({ project, opened, onClose }: Props) {
  const create = useAct(
    (values: KeyValues) => call<CreatedApiKey>('POST', '/v1/api-keys', { body: newKeyOf(values) }),
    { refresh: [deployKeys.apiKeys] },
  )
  const close = (): void => {
    create.reset()
    onClose()
  }
  return (
    <SecretDialog
      opened={opened}
      onClose={close}
      size="40rem"
      title="New API key"
      secretTitle={`API key ${create.data?.name}`}
      secret={create.data?.secret}
      label="API key"
      about={
        <>
          Send it as <code>Authorization: Bearer …</code> from a server of yours. Keep it out of pages and repositories:
          whoever has it calls what it reaches.
        </>
      }
    >
      <KeyForm initial={emptyKey(project.id)} verb="Create key" act={create} onClose={close} />
    </SecretDialog>
  )
}
