import { Text } from '@mantine/core'
import classes from '../../deploy/shared/deploy.module.css'
import { changedLines, replacedText } from './diff-lines.ts'
import type { VersionsDiff } from '../../deploy/shared/wire.ts'
import { Scroll } from '../../../parts/table/scroll.tsx'

type Kind = 'added' | 'removed' | 'same'

const kinds: Record<string, Kind> = { '+': 'added', '-': 'removed' }

/** A unified diff. Signs and colour say the same, so that neither is needed alone. */
export function Diff({ difference, label }: { difference: VersionsDiff; label: string }) {
  const replaced = replacedText(difference)
  return (
    <>
      {difference.diff === '' && <Text c="dimmed">They are the same, word for word.</Text>}
      {replaced !== null && <Text>{replaced}</Text>}
      <ChangedLines lines={changedLines(difference)} label={label} />
    </>
  )
}

function ChangedLines({ lines, label }: { lines: string[]; label: string }) {
  if (lines.length === 0) return null
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
