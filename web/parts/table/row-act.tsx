import { Button } from '@mantine/core'
import type { ReactNode } from 'react'

type Props = {
  /** With the thing's name: what tells one of many alike by ear. */
  label: string
  onClick: () => void
  disabled?: boolean
  loading?: boolean
  children: ReactNode
}

/** An act on one row of a list. */
export function RowAct({ label, children, ...more }: Props) {
  return (
    <Button variant="subtle" color="gray" size="xs" aria-label={label} {...more}>
      {children}
    </Button>
  )
}
