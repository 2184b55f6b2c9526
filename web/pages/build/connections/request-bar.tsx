import { Button, Select, TextInput } from '@mantine/core'
import { Play, Zap } from 'lucide-react'
import { isCommand } from '../shared/pasted.ts'
import classes from './fields/connection.module.css'
import type { Draft } from './fields/draft.ts'
import type { ConnectionActs } from './use-connection-acts.ts'

const methods = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'HEAD', 'OPTIONS']

type Props = {
  draft: Draft
  onChange: (part: Partial<Draft>) => void
  acts: Pick<ConnectionActs, 'test' | 'execute' | 'refresh'>
  /** It can be stored, and so fetched. */
  named: boolean
  editor: boolean
  onTest: () => void
  onFetch: () => void
  /** A command or a document instead of an address. */
  onPaste: (text: string) => void
}

/** Which address is called and how, and the two ways to call it. */
export function RequestBar({ draft, onChange, acts, named, editor, onTest, onFetch, onPaste }: Props) {
  const ready = draft.url.trim() !== ''
  return (
    <form
      className={classes.bar}
      onSubmit={(event) => {
        event.preventDefault()
        if (ready) onTest()
      }}
    >
      <Select
        aria-label="Method"
        className={classes.method ?? ''}
        data={methods}
        value={draft.method}
        disabled={!editor}
        onChange={(method) => onChange({ method: method ?? 'GET' })}
      />
      <TextInput
        aria-label="Address"
        className={classes.url ?? ''}
        classNames={{ input: classes.code ?? '' }}
        placeholder={draft.api === undefined ? 'https://api.example.com/v1/orders, curl … or OpenAPI' : '/orders'}
        inputMode="url"
        value={draft.url}
        disabled={!editor}
        onPaste={(event) => {
          const text = event.clipboardData.getData('text')
          if (!isCommand(text)) return
          event.preventDefault()
          onPaste(text)
        }}
        onChange={(event) => onChange({ url: event.currentTarget.value })}
      />
      {editor && (
        <>
          <Button
            type="submit"
            variant="default"
            disabled={!ready}
            loading={acts.test.isPending}
            leftSection={<Zap size={16} aria-hidden />}
          >
            Test
          </Button>
          {acts.test.isPending && (
            <Button variant="default" onClick={acts.test.stop}>
              Cancel
            </Button>
          )}
          <Button
            disabled={!named}
            loading={acts.execute.isPending || acts.refresh.isPending}
            onClick={onFetch}
            leftSection={<Play size={16} aria-hidden />}
          >
            Fetch data
          </Button>
        </>
      )}
    </form>
  )
}
