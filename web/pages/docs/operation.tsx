import { Text } from '@mantine/core'
import { useState, type ReactNode } from 'react'
import { PlainTable } from '../../parts/table/list.tsx'
import classes from './docs.module.css'
import type { Field, Operation } from './openapi.ts'

type Props = Pick<Operation, 'method' | 'path' | 'summary'> & { children: ReactNode }

/** An operation in a line. What it holds is drawn when it is opened: there may be hundreds. */
export function OperationDetails({ method, path, summary, children }: Props) {
  const [open, setOpen] = useState(false)
  return (
    <details className={classes.operation} onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>
        <span className={classes.method}>{method}</span>
        <span className={classes.path}>{path}</span>
        <span className={classes.summary}>{summary}</span>
      </summary>
      {open && <div className={classes.details}>{children}</div>}
    </details>
  )
}

type FieldsProps = {
  label: string
  title: string
  /** The word for a field that is always there; none where that says nothing. */
  certain?: string
  fields: Field[]
}

export function Fields({ label, title, certain, fields }: FieldsProps) {
  if (fields.length === 0) return null
  return (
    <PlainTable
      label={label}
      head={[title, 'Type', 'About']}
      rows={fields.map(({ name, type, required, about }) => [
        <span key={name}>
          <code>{name}</code>
          {required && certain !== undefined && (
            <Text component="span" size="xs" c="dimmed">
              {' '}
              {certain}
            </Text>
          )}
        </span>,
        type,
        about,
      ])}
    />
  )
}
