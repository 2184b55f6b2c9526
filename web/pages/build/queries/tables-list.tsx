import { Text } from '@mantine/core'
import shared from '../shared/build.module.css'
import classes from './query.module.css'

/** The readable tables, beside the SQL that reads them. */
export function TablesList({ tables }: { tables: Record<string, string[]> }) {
  const names = Object.keys(tables).toSorted()
  if (names.length === 0) return null
  return (
    <section className={`${shared.panel} ${classes.tables}`} aria-label="Tables">
      <Text fw={500} mb={4}>
        Tables
      </Text>
      {names.map((name) => (
        <details key={name} className={classes.tableOf}>
          <summary>{name}</summary>
          <ul>
            {tables[name]?.map((column) => (
              <li key={column}>{column}</li>
            ))}
          </ul>
        </details>
      ))}
    </section>
  )
}
