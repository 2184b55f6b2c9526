import { Button, Text } from '@mantine/core'
import type { UseInfiniteQueryResult } from '@tanstack/react-query'
import { useState, type ReactNode } from 'react'
import { Loaded } from '../text/loaded.tsx'
import { Rows } from './rows.tsx'

const step = 100

type Props<Item> = {
  items: Item[]
  /** The noun for many of them. */
  what: string
  children: (shown: Item[]) => ReactNode
}

/** The first of a long list, and on demand the rest: nothing is left out, and a page is never longer than asked for. */
export function Growing<Item>({ items, what, children }: Props<Item>) {
  const [most, setMost] = useState(step)
  const left = items.length - most
  return (
    <>
      {children(items.slice(0, most))}
      {left > 0 && (
        <Text c="dimmed" mt="md" component="div">
          {most.toLocaleString('en')} of {items.length.toLocaleString('en')} {what}.{' '}
          <Button variant="default" size="xs" ml="xs" onClick={() => setMost(most + step)}>
            Show {Math.min(step, left)} more
          </Button>
        </Text>
      )}
    </>
  )
}

type Paged = { hasNextPage: boolean; isFetchingNextPage: boolean; fetchNextPage: () => unknown }

/** The way to what lies further back. */
export function Older({ pages, what }: { pages: Paged; what: string }) {
  if (!pages.hasNextPage) return null
  return (
    <Button variant="default" mt="md" loading={pages.isFetchingNextPage} onClick={() => void pages.fetchNextPage()}>
      Show older {what}
    </Button>
  )
}

type RowsProps<Item> = {
  pages: UseInfiniteQueryResult<Item[]>
  label: string
  what: string
  /** In the place of no rows. */
  empty: ReactNode
  children: (item: Item) => ReactNode
}

/** Rows of a list that is read from its newest end. */
export function PagedRows<Item>({ pages, label, what, empty, children }: RowsProps<Item>) {
  return (
    <>
      <Loaded query={pages}>
        {(items) => (items.length === 0 ? empty : <Rows label={label}>{items.map(children)}</Rows>)}
      </Loaded>
      <Older pages={pages} what={what} />
    </>
  )
}
