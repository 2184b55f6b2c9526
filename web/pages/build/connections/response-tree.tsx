import { UnstyledButton } from '@mantine/core'
import { ChevronRight, Table2 } from 'lucide-react'
import { useState } from 'react'
import { formatPath, isObject, readText, type Step } from './response.ts'
import classes from './response-tree.module.css'

type Pick = { picked: string; onPick: (path: string) => void }

/** Lists are drawn a piece at a time: a response may hold a hundred thousand elements. */
const piece = 50

/** A response as a tree. Clicking a key that holds rows makes it the extractor. */
export function ResponseTree({ data, picked, onPick }: { data: unknown } & Pick) {
  return (
    <ul className={classes.tree} aria-label="Response">
      <Node label={null} value={data} steps={[]} open picked={picked} onPick={onPick} />
    </ul>
  )
}

type NodeProps = { label: Step | null; value: unknown; steps: Step[]; open?: boolean } & Pick

function Node({ label, value: given, steps, open: opened = false, picked, onPick }: NodeProps) {
  const [open, setOpen] = useState(opened)
  const value = readText(given)
  const path = formatPath(steps)
  const name = label === null ? 'The whole response' : String(label)
  if (!isObject(value) && !Array.isArray(value)) {
    return (
      <li className={classes.leaf}>
        {label !== null && <span className={classes.key}>{name}</span>}
        <span className={classes.value} data-kind={value === null ? 'null' : typeof value}>
          {typeof value === 'string' ? JSON.stringify(value) : String(value)}
        </span>
      </li>
    )
  }
  const chosen = path === picked
  return (
    <li>
      <span className={classes.line} data-chosen={chosen || undefined}>
        <UnstyledButton
          className={classes.toggle ?? ''}
          aria-expanded={open}
          aria-label={`${open ? 'Close' : 'Open'} ${name}`}
          onClick={() => setOpen(!open)}
        >
          <ChevronRight size={14} aria-hidden data-open={open || undefined} className={classes.arrow} />
        </UnstyledButton>
        <UnstyledButton
          className={classes.pick ?? ''}
          aria-pressed={chosen}
          title={path === '' ? undefined : path}
          onClick={() => onPick(path)}
        >
          <span className={label === null ? classes.whole : classes.key}>{name}</span>
          <span className={classes.summary}>{summaryOf(value)}</span>
          <span className={classes.offer}>
            <Table2 size={13} aria-hidden />
            {chosen ? 'the rows' : 'use as rows'}
          </span>
        </UnstyledButton>
      </span>
      {open && <Children value={value} steps={steps} picked={picked} onPick={onPick} />}
    </li>
  )
}

function Children({ value, steps, picked, onPick }: { value: object; steps: Step[] } & Pick) {
  const [shown, setShown] = useState(piece)
  const entries: Array<[Step, unknown]> = Array.isArray(value) ? [...value.entries()] : Object.entries(value)
  return (
    <ul className={classes.children}>
      {entries.slice(0, shown).map(([label, each]) => (
        <Node key={label} label={label} value={each} steps={[...steps, label]} picked={picked} onPick={onPick} />
      ))}
      {entries.length > shown && (
        <li className={classes.leaf}>
          <UnstyledButton className={classes.more ?? ''} onClick={() => setShown(shown + piece * 4)}>
            Show more of {entries.length}
          </UnstyledButton>
        </li>
      )}
    </ul>
  )
}

function summaryOf(value: object): string {
  if (Array.isArray(value)) return `[ ${value.length} ]`
  const names = Object.keys(value)
  return `{ ${names.slice(0, 4).join(', ')}${names.length > 4 ? ' …' : ''} }`
}
