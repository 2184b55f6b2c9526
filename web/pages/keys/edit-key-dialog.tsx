import { Modal } from '@mantine/core'
import { call } from '../../client/api.ts'
import { useAct } from '../../client/queries.ts'
import { KeyForm } from './key-form.tsx'
import { changesOf, valuesOf, type KeyValues } from './key-values.ts'
import { deployKeys } from '../deploy/shared/queries.ts'
import type { ApiKey } from '../deploy/shared/wire.ts'

/** Everything of a key but its secret. */
export function EditKeyDialog({
  apiKey: key,
  opened,
  onClose,
}: {
  apiKey: ApiKey
  opened: boolean
  onClose: () => void
}) {
  const change = useAct(
    (values: KeyValues) => call<ApiKey>('PATCH', `/v1/api-keys/${key.id}`, { body: changesOf(values) }),
    { refresh: [deployKeys.apiKeys], say: ({ name }) => `${name} is changed.` },
  )
  const close = (): void => {
    change.reset()
    onClose()
  }
  return (
    <Modal opened={opened} onClose={close} size="40rem" title={`Edit ${key.name}`}>
      <KeyForm initial={valuesOf(key)} verb="Save changes" act={change} onDone={close} onClose={close} />
    </Modal>
  )
}
