import { Text } from '@mantine/core'
import { History } from 'lucide-react'
import { Empty } from '../../../parts/text/empty.tsx'
import { Loaded } from '../../../parts/text/loaded.tsx'
import { Row, Rows } from '../../../parts/table/rows.tsx'
import { Ago, Moment } from '../../../parts/text/time.tsx'
import type { Place } from '../shared/place.ts'
import { useHistory } from '../shared/queries.ts'
import { Who } from '../shared/who.tsx'
import { sayAct } from '../shared/words.ts'

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
