import { List, Text } from '@mantine/core'
import { Link } from 'wouter'
import { paths } from '../../../browser/paths.ts'
import type { Project } from '../../../client/wire.ts'
import type { Mood } from '../../../parts/text/moods.ts'
import { Ago } from '../../../parts/text/time.tsx'
import { Verdict } from '../../../parts/text/verdict.tsx'
import { sayCount } from '../../../text/words.ts'
import type { Model } from '../shared/wire.ts'

/** Whether the rows that serve are as new as the tables below, and from which versions they were built. */
export function ModelState({ project, model }: { project: Project; model: Model }) {
  const { says, mood } = judge(model)
  return (
    <Verdict says={says} mood={mood}>
      {model.problem !== null && <Text size="sm">{model.problem}</Text>}
      {model.built_from.length > 0 && (
        <List size="sm" mt={4} aria-label="Built from">
          {model.built_from.map(({ table, version }) => (
            <List.Item key={table}>
              <Link href={paths.table(project.id, table)}>{table}</Link>, version {version}
              {model.behind.includes(table) && ': a newer one serves'}
            </List.Item>
          ))}
        </List>
      )}
      {model.as_of !== null && (
        <Text size="xs" c="dimmed" mt={4}>
          {sayCount(model.row_count ?? 0, 'row')}; its oldest data was fetched <Ago at={model.as_of} />
          {model.read_by.length > 0 && `; ${model.read_by.join(', ')} read it`}.
        </Text>
      )}
    </Verdict>
  )
}

function judge({ status, behind, problem }: Model): { says: string; mood: Mood } {
  if (status === 'failed') return { says: 'The last build failed. The version before it serves.', mood: 'bad' }
  if (status === 'held') return { says: 'The last build is held. The version before it serves.', mood: 'caution' }
  if (status === 'new') return { says: 'It is being built for the first time.', mood: 'plain' }
  if (problem !== null) return { says: 'A model that it reads has a problem.', mood: 'caution' }
  if (behind.length > 0) return { says: `A build is due: ${behind.join(', ')} changed.`, mood: 'plain' }
  return { says: 'Built from the newest data of its tables.', mood: 'good' }
}
