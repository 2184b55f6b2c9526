import { Badge, Text } from '@mantine/core'
import { Loaded } from '../../../parts/text/loaded.tsx'
import { Growing } from '../../../parts/table/more.tsx'
import { Row, Rows } from '../../../parts/table/rows.tsx'
import { Ago } from '../../../parts/text/time.tsx'
import type { Project } from '../../../client/wire.ts'
import { sayCount } from '../../../text/words.ts'
import { useVersions } from '../shared/asked.ts'
import { LoadWarnings, sayReason, WhyHeld } from '../shared/held.tsx'
import { ServeVersion } from '../shared/serve-version.tsx'
import type { Datasource, DataVersion } from '../shared/wire.ts'

/** Every load of the table: what it brought, whether it serves, and the way to and from it. */
export function VersionsView({ project, source }: { project: Project; source: Datasource }) {
  const versions = useVersions(project.id, source.id)
  return (
    <Loaded query={versions}>
      {(list) => {
        const live = list.find(({ status }) => status === 'live')?.version
        return (
          <Growing items={list} what="versions">
            {(shown) => (
              <Rows label="Versions">
                {shown.map((version) => (
                  <Row
                    key={version.version}
                    end={
                      project.role !== 'viewer' && version.status !== 'live' ? (
                        <ServeVersion
                          projectId={project.id}
                          source={source}
                          version={version}
                          live={live}
                          verb={version.status === 'held' ? 'Serve it anyway' : 'Restore'}
                        />
                      ) : undefined
                    }
                  >
                    <Line projectId={project.id} version={version} />
                  </Row>
                ))}
              </Rows>
            )}
          </Growing>
        )
      }}
    </Loaded>
  )
}

const says = {
  live: { words: 'Serves', colour: 'var(--sluice-good-mark)' },
  held: { words: 'Waits', colour: 'var(--sluice-danger)' },
  superseded: { words: 'Earlier', colour: 'dimmed' },
} as const

function Line({ projectId, version }: { projectId: string; version: DataVersion }) {
  const { words, colour } = says[version.status]
  const rejected = Object.entries(version.rejected ?? {})
  return (
    <>
      <Text fw={500} component="div">
        Version {version.version}{' '}
        <Badge variant="default" radius="sm" tt="none" fw={500} c={colour} ml={4}>
          {words}
        </Badge>
      </Text>
      <Text size="sm" c="dimmed">
        {sayCount(version.row_count, 'row')}
        {version.new_rows !== version.row_count && `, ${sayCount(version.new_rows, 'of them new', 'of them new')}`},
        fetched <Ago at={version.created_at} />
        {version.last_value !== null && `, up to ${version.last_value}`}
        {version.activated_at === null && version.status !== 'held' && ', never served'}
        {version.truncated && '. Not all of it was fetched'}
      </Text>
      {rejected.length > 0 && (
        <Text size="sm" c="dimmed">
          Left out because they did not fit:{' '}
          {rejected.map(([name, count]) => `${sayCount(count, 'value')} of ${name}`).join(', ')}
        </Text>
      )}
      {version.held_because?.reason !== 'incomplete' && <LoadWarnings warnings={version.warnings} />}
      {version.held_because !== null && (
        <>
          <Text size="sm" mt={4}>
            {sayReason(version.held_because)}
          </Text>
          <WhyHeld projectId={projectId} because={version.held_because} />
        </>
      )}
    </>
  )
}
