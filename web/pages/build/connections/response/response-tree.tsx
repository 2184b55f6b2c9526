import { UnstyledButton } from '@mantine/core'
import { Table2 } from 'lucide-react'
import { ValueTree } from '../../../../parts/text/value-tree.tsx'
import classes from '../../../../parts/text/value-tree.module.css'
import { formatPath, readText } from './response.ts'

type Props = { data: unknown; picked: string; onPick: (path: string) => void }

/** A response as a tree. Clicking a key that holds rows makes it the extractor. */
export function ResponseTree({ data, picked, onPick }: Props) {
  return (
    <ValueTree
      label="Response"
      value={data}
      whole="The whole response"
      read={readText}
      isChosen={(steps) => formatPath(steps) === picked}
      renderBranch={({ label, name, summary, steps }) => {
        const path = formatPath(steps)
        const chosen = path === picked
        return (
          <UnstyledButton
            className={classes.pick ?? ''}
            aria-pressed={chosen}
            title={path === '' ? undefined : path}
            onClick={() => onPick(path)}
          >
            <span className={label === null ? classes.whole : classes.key}>{name}</span>
            <span className={classes.summary}>{summary}</span>
            <span className={classes.offer}>
              <Table2 size={13} aria-hidden />
              {chosen ? 'the rows' : 'use as rows'}
            </span>
          </UnstyledButton>
        )
      }}
    />
  )
}
