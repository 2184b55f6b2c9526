import { Text } from '@mantine/core'
import classes from '../shared/deploy.module.css'
import { changedLines } from '../diff-lines.ts'
import { Scroll } from '../../../parts/table/scroll.tsx'

type Kind = 'added' | 'removed' | 'same'

const kinds: Record<string, Kind> = { '+': 'added', '-': 'removed' }

/** A unified diff. Signs and colour say the same, so that neither is needed alone. */
export function Diff({ text, label }: { text: string; label: string }) {
  const lines = changedLines(text)
  if (lines.length === 0) return <Text c="dimmed">They are the same, word for word.</Text>
  return (
    <Scroll look="code" label={label}>
      {lines.map((line, at) => {
        const kind = kinds[line.charAt(0)] ?? 'same'
        return (
          // Lines have no name of their own, and a diff is never changed in place.
          // oxlint-disable-next-line react/no-array-index-key
          <code key={at} className={classes['line']} data-kind={kind}>
            {line === '' ? ' ' : line}
          </code>
        )
      })}
    </Scroll>
  )
}
