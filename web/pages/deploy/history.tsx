import { Text } from '@mantine/core'
import { History } from 'lucide-react'
import { Empty } from '../../parts/empty.tsx'
import { Loaded } from '../../parts/loaded.tsx'
import { Row, Rows } from '../../parts/rows.tsx'
import { Ago, Moment } from '../../parts/time.tsx'
import type { Place } from './place.ts'
import { useHistory } from './queries.ts'
import { Who } from './who.tsx'
import { sayAct } from './words.ts'

/** In every environment: what happened to one explains the other. */
export function HistoryView({ place, name }: { place: Place; name: string }) {
  const history = useHistory({ projectId: place.project.id, name })
  return (
    <Loaded query={history}>
      {(list) =>
        list.length === 0 ? (
          <Empty icon={<History size={20} />}>It has not been deployed anywhere yet.</Empty>
        ) : (
          <Rows label="History">
            {list.map((entry) => (
              <Row
                key={entry.id}
                end={
                  <Text size="xs" c="dimmed">
                    <Moment at={entry.at} />
                  </Text>
                }
              >
                <Text>
                  <b>
                    <Who place={place} label={entry.by} />
                  </b>{' '}
                  {sayAct(entry)}
                </Text>
                <Text size="xs" c="dimmed">
                  <Ago at={entry.at} />
                </Text>
              </Row>
            ))}
          </Rows>
        )
      }
    </Loaded>
  )
}
