import { UnstyledButton } from '@mantine/core'
import { ChevronRight } from 'lucide-react'
import { useState, type ReactNode } from 'react'
import { sayBeginning } from '../../text/words.ts'
import classes from './value-tree.module.css'

export type Step = string | number

type Shared = {
  /** The type of a value, where a text may hold another one. */
  read: (value: unknown) => unknown
  /** The name and the rest of the line of what can be opened. */
  renderBranch: (branch: { label: Step | null; name: string; summary: string; steps: Step[] }) => ReactNode
  isChosen: (steps: Step[]) => boolean
  /** The name of the value as a whole. */
  whole: string
}

/** Lists are drawn a piece at a time: a value may hold a hundred thousand elements. */
const piece = 50

/** A value as a tree that opens. */
export function ValueTree({
  label,
  value,
  ...shared
}: { label: string; value: unknown } & Partial<Shared> & { whole: string }) {
  const full: Shared = { read: same, renderBranch: plainBranch, isChosen: never, ...shared }
  return (
    <ul className={classes.tree} aria-label={label}>
      <Node label={null} value={value} steps={[]} open shared={full} />
    </ul>
  )
}

type NodeProps = { label: Step | null; value: unknown; steps: Step[]; open?: boolean; shared: Shared }

function Node({ label, value: given, steps, open: opened = false, shared }: NodeProps) {
  const [open, setOpen] = useState(opened)
  const value = shared.read(given)
  const name = label === null ? shared.whole : String(label)
  if (typeof value !== 'object' || value === null) {
    return (
      <li className={classes.leaf}>
        {label !== null && <span className={classes.key}>{name}</span>}
        <span className={classes.value} data-kind={value === null ? 'null' : typeof value}>
          {typeof value === 'string' ? JSON.stringify(sayBeginning(value)) : String(value)}
        </span>
      </li>
    )
  }
  return (
    <li>
      <span className={classes.line} data-chosen={shared.isChosen(steps) || undefined}>
        <UnstyledButton
          className={classes.toggle ?? ''}
          aria-expanded={open}
          aria-label={`${open ? 'Close' : 'Open'} ${name}`}
          onClick={() => setOpen(!open)}
        >
          <ChevronRight size={14} aria-hidden data-open={open || undefined} className={classes.arrow} />
        </UnstyledButton>
        {shared.renderBranch({ label, name, summary: summaryOf(value), steps })}
      </span>
      {open && <Children value={value} steps={steps} shared={shared} />}
    </li>
  )
}

function Children({ value, steps, shared }: { value: object; steps: Step[]; shared: Shared }) {
  const [shown, setShown] = useState(piece)
  const entries: Array<[Step, unknown]> = Array.isArray(value) ? [...value.entries()] : Object.entries(value)
  return (
    <ul className={classes.children}>
      {entries.slice(0, shown).map(([label, each]) => (
        <Node key={label} label={label} value={each} steps={[...steps, label]} shared={shared} />
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

function plainBranch({ label, name, summary }: Parameters<Shared['renderBranch']>[0]): ReactNode {
  return (
    <span className={classes.text}>
      <span className={label === null ? classes.whole : classes.key}>{name}</span>
      <span className={classes.summary}>{summary}</span>
    </span>
  )
}

function summaryOf(value: object): string {
  if (Array.isArray(value)) return `[ ${value.length} ]`
  const names = Object.keys(value)
  return `{ ${names.slice(0, 4).join(', ')}${names.length > 4 ? ' …' : ''} }`
}

function same(value: unknown): unknown {
  return value
}

function never(): boolean {
  return false
}
