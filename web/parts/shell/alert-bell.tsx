import { ActionIcon, Indicator, Tooltip } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Bell } from 'lucide-react'
import { Link } from 'wouter'
import { callAll } from '../../client/api.ts'
import { deployPath } from '../../browser/paths.ts'
import type { Alert, Project } from '../../client/wire.ts'

export const alertsKey = (projectId: string) => ['projects', projectId, 'deploy', 'alerts']

const refreshMs = 30_000

/** The alerts that fire and that nobody has silenced. */
export function useFiringAlerts(project: Project): Alert[] {
  const alerts = useQuery({
    queryKey: alertsKey(project.id),
    refetchInterval: refreshMs,
    // Asked by the page itself: the end of a session is no reason to interrupt whoever reads it.
    queryFn: ({ signal }) => callAll<Alert>(`/v1/projects/${project.id}/alerts`, signal, true),
    retry: false,
  })
  // A silenced alert is known already.
  return (alerts.data ?? []).filter(
    ({ state, enabled, silenced }) => state === 'firing' && enabled && silenced === null,
  )
}

/** Whether something is wrong, on every page of a project; it leads to what. */
export function AlertBell({ project }: { project: Project }) {
  const firing = useFiringAlerts(project)
  const words =
    firing.length === 0
      ? 'Alerts: all well'
      : `${firing.length === 1 ? '1 alert fires' : `${firing.length} alerts fire`}: ${firing.map(({ name }) => name).join(', ')}`
  return (
    <Tooltip label={words}>
      <Indicator
        label={firing.length}
        disabled={firing.length === 0}
        color="red.9"
        size={16}
        offset={5}
        attributes={{ indicator: { 'aria-hidden': true } }}
      >
        <ActionIcon
          component={Link}
          href={deployPath(project.id, 'alerts')}
          variant="subtle"
          color="gray"
          size={34}
          aria-label={words}
        >
          <Bell size={17} aria-hidden />
        </ActionIcon>
      </Indicator>
    </Tooltip>
  )
}
