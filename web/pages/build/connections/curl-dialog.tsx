import { List, Modal, Select, Stack, Text, Textarea } from '@mantine/core'
import { useState } from 'react'
import { call } from '../../../client/api.ts'
import { FormEnd } from '../../../parts/form/act-form.tsx'
import { useAct } from '../../../client/queries.ts'
import type { Configuration, CurlImport, DocumentImport, Pagination } from '../shared/wire.ts'
import { readConfiguration, type Draft } from './fields/draft.ts'
import classes from './fields/connection.module.css'

type Props = { opened: boolean; onClose: () => void; onTake: (part: Partial<Draft>) => void }

/** The pasted text offers several requests; or one of them is here, as the form takes it. */
type Read = { operations: DocumentImport['operations'] } | { part: Partial<Draft>; notes: string[] }

/** A curl command, a document of an API, or where such a document is. */
async function readPasted({ pasted, operation }: { pasted: string; operation: string | null }): Promise<Read> {
  const source = pasted.trim()
  const isAddress = /^https?:\/\/\S+$/i.test(source)
  if (!isAddress && !/^[{<]|^---|^\s*(openapi|swagger)\s*:/im.test(source)) {
    const body = { command: source }
    const { configuration, notes } = await call<CurlImport>('POST', '/v1/http/import-curl', { body })
    return { part: readConfiguration(configuration as Configuration), notes }
  }
  const chosen = operation === null ? {} : { operation }
  const body = { ...(isAddress ? { url: source } : { text: source }), ...chosen }
  const { operations, connection } = await call<DocumentImport>('POST', '/v1/http/import', { body, timeoutMs: 60_000 })
  if (connection === null) return { operations }
  const { name, configuration, notes } = connection
  const pagination = connection.pagination as Pagination | null
  return { part: { ...readConfiguration(configuration as Configuration), name, pagination }, notes }
}

/** Fills the form from a command as API documentation and browsers give it, or from an API's own document. */
export function CurlDialog({ opened, onClose, onTake }: Props) {
  const [pasted, setPasted] = useState('')
  const [operations, setOperations] = useState<DocumentImport['operations']>([])
  const [operation, setOperation] = useState<string | null>(null)
  const read = useAct(readPasted, { refresh: [] })
  const notes = read.data !== undefined && 'notes' in read.data ? read.data.notes : []
  const paste = (text: string): void => {
    setPasted(text)
    setOperations([])
    setOperation(null)
  }
  const close = (): void => {
    read.reset()
    paste('')
    onClose()
  }
  const take = (found: Read): void => {
    if ('operations' in found) return setOperations(found.operations)
    onTake(found.part)
    if (found.notes.length === 0) close()
  }
  const isChoosing = operations.length > 0
  return (
    <Modal opened={opened} onClose={close} title="Paste a curl command or an API’s own document" size="lg">
      <form
        onSubmit={(event) => {
          event.preventDefault()
          read.mutate({ pasted, operation }, { onSuccess: take })
        }}
      >
        <Stack gap="md">
          <Textarea
            aria-label="curl command"
            description="curl, OpenAPI or a Postman collection, or the address of one"
            placeholder="curl https://api.example.com/v1/orders -H 'Authorization: Bearer …'"
            autosize
            minRows={5}
            maxRows={14}
            data-autofocus
            spellCheck={false}
            classNames={{ input: classes.code ?? '' }}
            value={pasted}
            onChange={(event) => paste(event.currentTarget.value)}
          />
          {isChoosing && (
            <Select
              label="Request"
              searchable
              data={operations.map(({ id, method, url, summary }) => ({
                value: id,
                label: `${method} ${url}${summary === '' ? '' : ` · ${summary}`}`,
              }))}
              value={operation}
              onChange={setOperation}
            />
          )}
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
            verb={isChoosing || /^\s*curl\b/.test(pasted) || pasted.trim() === '' ? 'Fill the form' : 'Read it'}
            disabled={pasted.trim() === '' || (isChoosing && operation === null)}
            onClose={close}
            leave={notes.length > 0 ? 'Close' : 'Cancel'}
          />
        </Stack>
      </form>
    </Modal>
  )
}
