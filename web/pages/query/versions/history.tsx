import { Text } from '@mantine/core'
import { History } from 'lucide-react'
import { Empty } from '../../../parts/text/empty.tsx'
import { Loaded } from '../../../parts/text/loaded.tsx'
import { PlainTable } from '../../../parts/table/list.tsx'
import { Moment } from '../../../parts/text/time.tsx'
import type { Place } from '../../deploy/shared/place.ts'
import { useHistory } from '../../deploy/shared/queries.ts'
import { Who } from '../../deploy/shared/who.tsx'
import { sayAct } from '../../deploy/shared/words.ts'

/** In every environment: what happened to one explains the other. */
export function HistoryView({ place, name }: { place: Place; name: string }) {
  const history = useHistory({ projectId: place.project.id, name })
  return (
    <Loaded query={history}>
      {(list) =>
        list.length === 0 ? (
          <Empty icon={<History size={20} />}>It has not been deployed anywhere yet.</Empty>
        ) : (
          <PlainTable
            label="History"
            head={['What', 'When']}
            whole="What"
            rows={list.map((entry) => [
              <Text key="what">
                <b>
                  <Who place={place} label={entry.by} />
                </b>{' '}
                {sayAct(entry)}
              </Text>,
              <Moment key="when" at={entry.at} />,
            ])}
          />
        )
      }
    </Loaded>
  )
}
