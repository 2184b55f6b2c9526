import { Select, UnstyledButton } from '@mantine/core'
import { ArrowDown, ArrowUp, ArrowUpDown } from 'lucide-react'
import type { ReactNode } from 'react'
import { Growing } from './more.tsx'
import plain from './plain-table.module.css'
import { Scroll } from './scroll.tsx'
import classes from './sortable-table.module.css'

export type SortColumn<Item> = {
  name: string
  label: string
  cell: (item: Item) => ReactNode
  /** The value to sort rows by; without it the column has no order. Unknown values come last. */
  by?: (item: Item) => number | string | null
  /** Numbers stand under one another. */
  figure?: boolean
  /** The column that has a line of its own on a phone. */
  whole?: boolean
}

/** By which column, and from which end. */
export type Order = { name: string; down: boolean }

type Props<Item> = {
  label: string
  columns: Array<SortColumn<Item>>
  items: Item[]
  keyOf: (item: Item) => string
  /** The noun for many of them. */
  what: string
  order: Order
  onOrder: (order: Order) => void
}

/** Rows of whole values that are put in order by any column. */
export function SortableTable<Item>({ label, columns, items, keyOf, what, order, onOrder }: Props<Item>) {
  const by = columns.find(({ name }) => name === order.name)?.by
  const rows = by === undefined ? items : items.toSorted(comparing(by, order.down))
  return (
    <>
      <div className={classes.phone}>
        <Select
          aria-label="In order of"
          size="xs"
          w={190}
          data={columns
            .filter((column) => column.by !== undefined)
            .map((column) => ({ value: column.name, label: column.label }))}
          value={order.name}
          onChange={(name) => {
            const chosen = columns.find((column) => column.name === name)
            if (chosen !== undefined) onOrder({ name: chosen.name, down: chosen.figure ?? false })
          }}
        />
      </div>
      <Growing items={rows} what={what}>
        {(shown) => (
          <Scroll label={label} look="tall">
            <table aria-label={label} className={plain.table} data-wraps>
              <thead className={classes.head}>
                <tr>
                  {columns.map((column) => (
                    <th
                      key={column.name}
                      scope="col"
                      data-end={column.figure || undefined}
                      aria-sort={column.name === order.name ? (order.down ? 'descending' : 'ascending') : undefined}
                    >
                      {column.by === undefined ? (
                        column.label
                      ) : (
                        <Sort column={column} order={order} onOrder={onOrder} />
                      )}
                    </th>
                  ))}
                </tr>
              </thead>
              <tbody>
                {shown.map((item) => (
                  <tr key={keyOf(item)}>
                    {columns.map(({ name, label: head, cell, figure = false, whole = false }) => (
                      <td
                        key={name}
                        data-end={figure || undefined}
                        data-whole={whole || undefined}
                        data-name={figure ? head : undefined}
                      >
                        {cell(item)}
                      </td>
                    ))}
                  </tr>
                ))}
              </tbody>
            </table>
          </Scroll>
        )}
      </Growing>
    </>
  )
}

type SortProps<Item> = { column: SortColumn<Item>; order: Order; onOrder: (order: Order) => void }

function Sort<Item>({ column: { name, label, figure = false }, order, onOrder }: SortProps<Item>) {
  const isOn = order.name === name
  const Icon = !isOn ? ArrowUpDown : order.down ? ArrowDown : ArrowUp
  return (
    <UnstyledButton
      className={classes.sort ?? ''}
      data-on={isOn || undefined}
      // Most is looked for first, and names from their beginning.
      onClick={() => onOrder({ name, down: isOn ? !order.down : figure })}
    >
      {label}
      <Icon size={13} aria-hidden />
    </UnstyledButton>
  )
}

function comparing<Item>(by: (item: Item) => number | string | null, down: boolean) {
  return (left: Item, right: Item): number => {
    const [one, other] = [by(left), by(right)]
    if (one === null || other === null) return one === other ? 0 : one === null ? 1 : -1
    const order = typeof one === 'string' ? one.localeCompare(String(other)) : one - Number(other)
    return down ? -order : order
  }
}
