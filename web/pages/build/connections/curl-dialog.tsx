import { List, Modal, Select, Text, Textarea } from '@mantine/core'
import { useEffect, useEffectEvent, useState } from 'react'
import { call } from '../../../client/api.ts'
import { ActForm } from '../../../parts/form/act-form.tsx'
import { useAct } from '../../../client/queries.ts'
import type { Configuration, CurlImport, DocumentImport, Pagination } from '../shared/wire.ts'
import { isUrl } from '../shared/pasted.ts'
import { readConfiguration, type Draft } from './fields/draft.ts'
import classes from './fields/connection.module.css'

/** `pasted`: read at once, where there is something. */
type Props = { pasted: string; onClose: () => void; onTake: (part: Partial<Draft>) => void }

/** The pasted text offers several requests; or one of them is here, as the form takes it. */
type Read = { operations: DocumentImport['operations'] } | { part: Partial<Draft>; notes: string[] }

/** A curl command, a document of an API, or where such a document is. */
async function readPasted({ text, operation }: { text: string; operation: string | null }): Promise<Read> {
  const source = text.trim()
  const isAddress = isUrl(source)
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
export function CurlDialog({ pasted, onClose, onTake }: Props) {
  const [text, setText] = useState(pasted)
  const [operations, setOperations] = useState<DocumentImport['operations']>([])
  const [operation, setOperation] = useState<string | null>(null)
  const read = useAct(readPasted, { refresh: [] })
  const notes = read.data !== undefined && 'notes' in read.data ? read.data.notes : []
  const take = (found: Read): void => {
    if ('operations' in found) return setOperations(found.operations)
    onTake(found.part)
    if (found.notes.length === 0) onClose()
  }
  const fill = (): void => read.mutate({ text, operation }, { onSuccess: take })
  const begin = useEffectEvent(() => (pasted === '' ? undefined : fill()))
  useEffect(() => begin(), [])
  const isChoosing = operations.length > 0
  return (
    <Modal opened onClose={onClose} title="Paste a curl command or an API’s own document" size="lg">
      <ActForm
        onSubmit={() => fill()}
        act={read}
        verb={isChoosing || /^\s*curl\b/.test(text) || text.trim() === '' ? 'Fill the form' : 'Read it'}
        disabled={text.trim() === '' || (isChoosing && operation === null)}
        onClose={onClose}
        leave={notes.length > 0 ? 'Close' : 'Cancel'}
      >
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
          value={text}
          onChange={(event) => {
            setText(event.currentTarget.value)
            setOperations([])
            setOperation(null)
          }}
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
      </ActForm>
    </Modal>
  )
}
