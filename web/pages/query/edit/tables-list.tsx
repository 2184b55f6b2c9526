import { UnstyledButton } from '@mantine/core'
import { servedRows, useObjects } from '../../../client/things.ts'
import { sayType } from '../../../text/words.ts'
import shared from '../../build/shared/build.module.css'
import classes from './query.module.css'

type Props = { projectId: string; onInsert: ((text: string) => void) | null }

/** The readable tables with their columns and types, beside the SQL that reads them. A click writes the name there. */
export function TablesList({ projectId, onInsert }: Props) {
  const objects = useObjects(projectId)
  const tables = [...servedRows(objects.data ?? []).values()].toSorted((one, other) =>
    one.table_name.localeCompare(other.table_name),
  )
  if (tables.length === 0) return null
  return (
    <section className={`${shared.panel} ${classes.tables}`} aria-label="Tables">
      {tables.map(({ table_name: name, columns }) => (
        <details key={name} className={classes.tableOf}>
          <summary>{name}</summary>
          <ul>
            {(columns ?? []).map((column) => (
              <li key={column.name}>
                {onInsert === null ? (
                  column.name
                ) : (
                  <UnstyledButton
                    className={classes.column ?? ''}
                    aria-label={`Insert ${column.name}`}
                    onClick={() => onInsert(column.name)}
                  >
                    {column.name}
                  </UnstyledButton>
                )}
                <span className={classes.type}>{sayType(column.type)}</span>
              </li>
            ))}
          </ul>
        </details>
      ))}
    </section>
  )
}
