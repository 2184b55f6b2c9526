import { Button } from '@mantine/core'
import type { UseMutationResult } from '@tanstack/react-query'
import { useState, type ReactNode } from 'react'
import { Confirm } from './confirm.tsx'

type Props = {
  name: string
  /** The text to type first. */
  typed: string
  act: UseMutationResult<unknown, Error, void>
  /** The things deleted with it. */
  children: ReactNode
}

/** On the page of a thing: takes it away once its name was typed. */
export function DeleteButton({ name, typed, act, children }: Props) {
  const [asking, setAsking] = useState(false)
  return (
    <>
      <Button variant="default" c="var(--sluice-danger)" onClick={() => setAsking(true)}>
        Delete
      </Button>
      <Confirm
        opened={asking}
        onClose={() => setAsking(false)}
        title={`Delete ${name}`}
        verb={`Delete ${name}`}
        typed={typed}
        act={act}
      >
        {children}
      </Confirm>
    </>
  )
}
