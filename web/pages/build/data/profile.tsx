import { Text } from '@mantine/core'
import { ColumnFigures } from '../../../parts/grid/column-figures.tsx'
import classes from '../../../parts/grid/column-figures.module.css'
import type { ColumnProfile } from '../shared/wire.ts'
import { sayType } from '../../../text/words.ts'

/** Each column in figures: how it is spread, its commonest values, and how much of it is missing. */
export function Profile({ columns, rowCount }: { columns: ColumnProfile[]; rowCount: number }) {
  return (
    <ul className={classes.columns} aria-label="Columns">
      {columns.map((column) => (
        <li key={column.name} className={classes.column}>
          <div className={classes.head}>
            <Text fw={600} className={classes.name ?? ''}>
              {column.name}
            </Text>
            <Text size="xs" c="dimmed" component="span">
              {sayType(column.type)}
              {column.looks_like !== null && `, looks like ${sayLooks(column.looks_like)}`}
            </Text>
          </div>
          <ColumnFigures column={column} rowCount={rowCount} />
        </li>
      ))}
    </ul>
  )
}

function sayLooks(looks: string): string {
  const an = /^[aeiou]/.test(looks) ? 'an' : 'a'
  return looks === 'url' ? 'an address' : looks === 'email' ? 'an e-mail address' : `${an} ${looks}`
}
