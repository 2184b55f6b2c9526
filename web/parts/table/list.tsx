/* oxlint-disable jsx-a11y/no-noninteractive-element-interactions -- keys go from one thing that opens a row to the next */
import { Select, UnstyledButton } from '@mantine/core'
import { ArrowDown, ArrowUp, ArrowUpDown } from 'lucide-react'
import type { KeyboardEvent, ReactNode } from 'react'
import { Link } from 'wouter'
import classes from './list.module.css'
import { Growing } from './more.tsx'
import { Scroll } from './scroll.tsx'

export type Column<Item> = {
  /** Its heading; empty for one of acts. */
  label: string
  cell: (item: Item) => ReactNode
  /** In addresses and settings; the label unless given. */
  name?: string
  /** The value to sort rows by; without it the column has no order. Unknown values come last. */
  by?: (item: Item) => number | string | null
  /** Numbers stand under one another. */
  figure?: boolean
  /** The column that takes the room, and on a phone a line of its own. */
  whole?: boolean
}

/** By which column, and from which end. */
export type Order = { name: string; down: boolean }

type Props<Item> = {
  label: string
  columns: Array<Column<Item>>
  items: Item[]
  keyOf: (item: Item, index: number) => string
  /** The noun for many of them. */
  what?: string
  order?: Order
  onOrder?: (order: Order) => void
  /** A click anywhere in a row is one on its first link or button; arrows, j and k go from row to row. */
  opens?: boolean
  /** A list of its own on a page, on a surface with rows of 44 px; else a table within something. */
  look?: 'page' | 'plain'
}

/** Rows in columns: put in order, opened, and gone through by the keyboard. On a phone a row becomes a few words. */
export function List<Item>(props: Props<Item>) {
  const { label, columns, items, keyOf, what = 'rows', order, onOrder, opens = false, look = 'page' } = props
  const by = columns.find((column) => nameOf(column) === order?.name)?.by
  const rows = by === undefined ? items : items.toSorted(comparing(by, order?.down ?? false))
  const wraps = look === 'page' || columns.some(({ whole = false }) => whole)
  return (
    <>
      {onOrder !== undefined && <OrderOnPhone columns={columns} order={order} onOrder={onOrder} />}
      <Growing items={rows} what={what}>
        {(shown) => (
          <Scroll label={label} look={look === 'page' ? 'list' : 'tall'}>
            <table
              aria-label={label}
              className={classes.table}
              data-look={look}
              data-wraps={wraps || undefined}
              onKeyDown={opens ? goOn : undefined}
            >
              <Head columns={columns} order={order} onOrder={onOrder} />
              <tbody>
                {shown.map((item, index) => {
                  return (
                    <tr key={keyOf(item, index)} data-opens={opens || undefined}>
                      {columns.map((column) => (
                        <td
                          key={nameOf(column)}
                          data-end={column.figure || undefined}
                          data-whole={column.whole || undefined}
                          data-name={column.figure ? column.label : undefined}
                        >
                          {column.cell(item)}
                        </td>
                      ))}
                    </tr>
                  )
                })}
              </tbody>
            </table>
          </Scroll>
        )}
      </Growing>
    </>
  )
}

type NameProps = {
  /** Where the row leads; without it the name is only said. */
  href: string | null
  name: string
  /** Names that callers and SQL write. */
  isCode?: boolean
  /** Marks and tags beside it. */
  marks?: ReactNode
  about?: ReactNode
}

/** The name of a thing in one line with as much about it as there is room for. */
export function NameCell({ href, name, isCode = false, marks, about }: NameProps) {
  return (
    <div className={classes.named}>
      {href === null ? (
        <span className={classes.name} data-code={isCode || undefined}>
          {name}
        </span>
      ) : (
        <Link href={href} className={classes.name ?? ''} data-code={isCode || undefined}>
          {name}
        </Link>
      )}
      {marks}
      {about !== undefined && about !== '' && <span className={classes.about}>{about}</span>}
    </div>
  )
}

type PlainProps = {
  label: string
  head: string[]
  rows: ReactNode[][]
  /** Columns of numbers. */
  figures?: string[]
  /** The column that has a line of its own on a phone. */
  whole?: string
  opens?: boolean
  look?: 'page' | 'plain'
}

const none: string[] = []

/** The same of whole values, mostly within a card. */
export function PlainTable({ label, head, rows, figures = none, whole, opens = false, look = 'plain' }: PlainProps) {
  return (
    <List
      label={label}
      look={look}
      opens={opens}
      items={rows}
      keyOf={(_cells, index) => String(index)}
      columns={head.map((name, at) => ({
        label: name,
        figure: figures.includes(name),
        whole: name === whole,
        cell: (cells: ReactNode[]) => cells[at],
      }))}
    />
  )
}

function nameOf<Item>({ name, label }: Column<Item>): string {
  return name ?? label
}

type HeadProps<Item> = {
  columns: Array<Column<Item>>
  order: Order | undefined
  onOrder: ((order: Order) => void) | undefined
}

function Head<Item>({ columns, order, onOrder }: HeadProps<Item>) {
  return (
    <thead>
      <tr>
        {columns.map((column) => {
          const isOn = order !== undefined && order.name === nameOf(column)
          // Acts head nothing, and a heading without words is announced as one.
          if (column.label === '') return <td key={nameOf(column)} aria-hidden />
          return (
            <th
              key={nameOf(column)}
              scope="col"
              data-end={column.figure || undefined}
              aria-sort={isOn ? (order.down ? 'descending' : 'ascending') : undefined}
            >
              {column.by === undefined || onOrder === undefined || order === undefined ? (
                column.label
              ) : (
                <Sort column={column} order={order} onOrder={onOrder} />
              )}
            </th>
          )
        })}
      </tr>
    </thead>
  )
}

type SortProps<Item> = { column: Column<Item>; order: Order; onOrder: (order: Order) => void }

function Sort<Item>({ column, order, onOrder }: SortProps<Item>) {
  const name = nameOf(column)
  const isOn = order.name === name
  const Icon = !isOn ? ArrowUpDown : order.down ? ArrowDown : ArrowUp
  return (
    <UnstyledButton
      className={classes.sort ?? ''}
      data-on={isOn || undefined}
      // Most is looked for first, and names from their beginning.
      onClick={() => onOrder({ name, down: isOn ? !order.down : (column.figure ?? false) })}
    >
      {column.label}
      <Icon size={13} aria-hidden />
    </UnstyledButton>
  )
}

type PhoneProps<Item> = Omit<SortProps<Item>, 'column' | 'order'> & {
  columns: Array<Column<Item>>
  order: Order | undefined
}

/** The head of the table has no room there: the order is chosen above it. */
function OrderOnPhone<Item>({ columns, order, onOrder }: PhoneProps<Item>) {
  return (
    <div className={classes.phone}>
      <Select
        aria-label="In order of"
        size="xs"
        w={190}
        data={columns
          .filter((column) => column.by !== undefined)
          .map((column) => ({ value: nameOf(column), label: column.label }))}
        value={order?.name ?? null}
        onChange={(name) => {
          const chosen = columns.find((column) => nameOf(column) === name)
          if (chosen !== undefined) onOrder({ name: nameOf(chosen), down: chosen.figure ?? false })
        }}
      />
    </div>
  )
}

/** To the row above or below, where the focus is on what opens a row. */
function goOn(event: KeyboardEvent<HTMLTableElement>): void {
  const step = { ArrowDown: 1, j: 1, ArrowUp: -1, k: -1 }[event.key]
  if (step === undefined || event.ctrlKey || event.metaKey || event.altKey) return
  const openers = [...event.currentTarget.querySelectorAll<HTMLElement>('tbody td :is(a, button)')]
  const row = (event.target as HTMLElement).closest('tr')
  const at = openers.findIndex((each) => each === event.target)
  if (row === null || at < 0) return
  const firsts = openers.filter((each, index) => openers[index - 1]?.closest('tr') !== each.closest('tr'))
  const next = firsts[firsts.findIndex((each) => each.closest('tr') === row) + step]
  if (next === undefined) return
  event.preventDefault()
  next.focus()
}

function comparing<Item>(by: (item: Item) => number | string | null, down: boolean) {
  return (left: Item, right: Item): number => {
    const [one, other] = [by(left), by(right)]
    if (one === null || other === null) return one === other ? 0 : one === null ? 1 : -1
    const order = typeof one === 'string' ? one.localeCompare(String(other)) : one - Number(other)
    return down ? -order : order
  }
}
