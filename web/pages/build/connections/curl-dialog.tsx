import { List, Modal, Stack, Text, Textarea } from '@mantine/core'
import { useState } from 'react'
import { call } from '../../../api.ts'
import { FormEnd } from '../../../parts/form-end.tsx'
import { useAct } from '../../../queries.ts'
import type { Configuration, CurlImport } from '../wire.ts'
import { readConfiguration, type Draft } from './draft.ts'
import classes from './connection.module.css'

type Props = { opened: boolean; onClose: () => void; onTake: (part: Partial<Draft>) => void }

/** Fills the form from a command as API documentation and browsers give it. */
export function CurlDialog({ opened, onClose, onTake }: Props) {
  const [command, setCommand] = useState('')
  const read = useAct((body: { command: string }) => call<CurlImport>('POST', '/v1/http/import-curl', { body }), {
    refresh: [],
  })
  const notes = read.data?.notes ?? []
  const close = (): void => {
    read.reset()
    setCommand('')
    onClose()
  }
  const take = ({ configuration, notes }: CurlImport): void => {
    onTake(readConfiguration(configuration as Configuration))
    if (notes.length === 0) close()
  }
  return (
    <Modal opened={opened} onClose={close} title="Paste a curl command" size="lg">
      <form
        onSubmit={(event) => {
          event.preventDefault()
          read.mutate({ command }, { onSuccess: take })
        }}
      >
        <Stack gap="md">
          <Textarea
            aria-label="curl command"
            placeholder="curl https://api.example.com/v1/orders -H 'Authorization: Bearer …'"
            autosize
            minRows={5}
            maxRows={14}
            data-autofocus
            spellCheck={false}
            classNames={{ input: classes.code ?? '' }}
            value={command}
            onChange={(event) => setCommand(event.currentTarget.value)}
          />
          {notes.length > 0 && (
            <div aria-live="polite">
              <Text fw={500}>The form is filled, except for this:</Text>
              <List>
                {notes.map((note) => (
                  <List.Item key={note}>{note}</List.Item>
                ))}
              </List>
            </div>
          )}
          <FormEnd
            act={read}
            verb="Fill the form"
            disabled={command.trim() === ''}
            onClose={close}
            leave={notes.length > 0 ? 'Close' : 'Cancel'}
          />
        </Stack>
      </form>
    </Modal>
  )
}
