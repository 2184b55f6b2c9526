import { ActionIcon, Button, Tooltip } from '@mantine/core'
import { useTimeout } from '@mantine/hooks'
import { Check, Copy } from 'lucide-react'
import { useState } from 'react'

type CopyState = 'ready' | 'copied' | 'refused'

/** A small mark beside what can be copied. */
export function CopyMark({ text, what }: { text: string; what: string }) {
  const { state, copy } = useCopy(text)
  const label = state === 'copied' ? 'Copied' : state === 'refused' ? 'Select it and press Ctrl-C' : `Copy ${what}`
  return (
    <Tooltip label={label}>
      <ActionIcon variant="subtle" color="gray" size="sm" aria-label={label} onClick={copy}>
        {state === 'copied' ? <Check size={14} aria-hidden /> : <Copy size={14} aria-hidden />}
      </ActionIcon>
    </Tooltip>
  )
}

/** The button for what is copied on purpose. `field` is selected where the browser keeps its clipboard to itself. */
export function CopyButton({ text, field }: { text: string; field: React.RefObject<HTMLTextAreaElement | null> }) {
  const { state, copy } = useCopy(text, () => field.current?.select())
  return (
    <Button
      variant="default"
      onClick={copy}
      leftSection={state === 'copied' ? <Check size={16} aria-hidden /> : <Copy size={16} aria-hidden />}
    >
      <span aria-live="polite">{state === 'copied' ? 'Copied' : state === 'refused' ? 'Press Ctrl-C' : 'Copy'}</span>
    </Button>
  )
}

/** The clipboard exists only on secure origins and may be refused even there. */
function useCopy(text: string, onRefused?: () => void): { state: CopyState; copy: () => void } {
  const [state, setState] = useState<CopyState>('ready')
  const { start, clear } = useTimeout(() => setState('ready'), 2000)
  const end = (reached: CopyState): void => {
    if (reached === 'refused') onRefused?.()
    setState(reached)
    clear()
    start()
  }
  const copy = (): void => {
    const clipboard: Clipboard | undefined = navigator.clipboard
    if (clipboard === undefined) return end('refused')
    clipboard.writeText(text).then(
      () => end('copied'),
      () => end('refused'),
    )
  }
  return { state, copy }
}
