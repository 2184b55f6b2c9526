import { Text } from '@mantine/core'
import { Link } from 'wouter'
import { deployPath, paths, usualEnvironment } from '../../../browser/paths.ts'
import type { Project, ProjectMap } from '../../../client/wire.ts'
import { useFiringAlerts } from '../../../parts/shell/alert-bell.tsx'
import { Rows } from '../../../parts/table/rows.tsx'
import { Card } from '../../../parts/text/card.tsx'
import { sayCount } from '../../../text/words.ts'
import { useUnanswered } from '../../questions/unanswered.tsx'
import { useReleases } from '../../releases/release-acts.ts'
import classes from './home.module.css'

type Matter = { key: string; says: string; why: string | null; to: string; isBad: boolean }

/** Everything that waits for somebody, the worst first, each the way to where it is dealt with. */
export function Attention({ project, map }: { project: Project; map: ProjectMap }) {
  const alerts = useFiringAlerts(project)
  const unanswered = useUnanswered(project.id, usualEnvironment).data ?? []
  const releases = useReleases(project.id, usualEnvironment).data ?? []
  const matters: Matter[] = [
    ...alerts.map(({ id, name }) => ({
      key: id,
      says: `${name} fires`,
      why: null,
      to: `${deployPath(project.id, 'alerts')}?alert=${id}`,
      isBad: true,
    })),
    ...map.sources.flatMap((source) => matterOf(project.id, source)),
    ...releases
      .filter(({ status }) => status === 'canary' || status === 'shadow')
      .map(({ id, status, message }) => ({
        key: id,
        says: status === 'canary' ? 'A canary waits to be rolled out or back' : 'A shadow runs alongside',
        why: message,
        to: deployPath(project.id, `releases/${id}`),
        isBad: false,
      })),
    ...(unanswered.length === 0
      ? []
      : [
          {
            key: 'questions',
            says: `${sayCount(unanswered.length, 'question')} without an answer`,
            why: unanswered[0] === undefined ? null : `“${unanswered[0].question}”`,
            to: deployPath(project.id, 'questions'),
            isBad: false,
          },
        ]),
  ]
  return (
    <Card title="Needs somebody">
      {matters.length === 0 ? (
        <Text c="dimmed">Nothing: no alert fires, all data is fresh, and every question had an answer.</Text>
      ) : (
        <Rows label="Needs somebody">
          {matters.map(({ key, says, why, to, isBad }) => (
            <li key={key} className={classes.change} data-bad={isBad || undefined}>
              <Link href={to}>{says}</Link>
              {why !== null && (
                <Text size="xs" c="dimmed">
                  {why}
                </Text>
              )}
            </li>
          ))}
        </Rows>
      )}
    </Card>
  )
}

const troubles = { failing: 'fails', waiting: 'has new data that is held', stale: 'is stale' }

function matterOf(projectId: string, { id, name, table, status, message }: ProjectMap['sources'][number]): Matter[] {
  if (status !== 'failing' && status !== 'waiting' && status !== 'stale') return []
  const to = status === 'waiting' ? paths.table(projectId, table, 'versions') : paths.connection(projectId, id)
  return [{ key: id, says: `${name} ${troubles[status]}`, why: message, to, isBad: status === 'failing' }]
}
