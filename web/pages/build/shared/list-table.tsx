import type { ReactNode } from 'react'
import { Growing } from '../../../parts/table/more.tsx'
import shared from './build.module.css'

type Props<Item> = {
  label: string
  items: Item[]
  /** The noun for many of them. */
  what: string
  /** The names of the columns; those of numbers end at one line. */
  head: Array<string | { figures: string }>
  /** One row of the table. */
  children: (item: Item) => ReactNode
}

/** All things of one kind in a project, a line each. On a phone a line becomes a few words. */
export function ListTable<Item>({ label, items, what, head, children }: Props<Item>) {
  return (
    <Growing items={items} what={what}>
      {(shown) => (
        <div className={shared.panel}>
          <table aria-label={label} className={shared.table}>
            <thead>
              <tr>
                {head.map((name) =>
                  typeof name === 'string' ? (
                    <th key={name} scope="col">
                      {name}
                    </th>
                  ) : (
                    <th key={name.figures} scope="col" data-end>
                      {name.figures}
                    </th>
                  ),
                )}
              </tr>
            </thead>
            <tbody>{shown.map(children)}</tbody>
          </table>
        </div>
      )}
    </Growing>
  )
}
