import { Alert, Button, Code, Group, List, Text } from '@mantine/core'
import { CirclePause, TriangleAlert } from 'lucide-react'
import { Link } from 'wouter'
import { Ago } from '../../../parts/text/time.tsx'
import { paths } from '../../../browser/paths.ts'
import type { Project } from '../../../client/wire.ts'
import { sayCount, sayType } from '../../../text/words.ts'
import { useVersions } from './asked.ts'
import { BrokenQueries, ServeVersion } from './serve-version.tsx'
import type { Datasource, DataVersion, HeldBecause } from './wire.ts'

type Props = {
  project: Project
  source: Datasource
}

/** New data that waits: why, what serves meanwhile, and the ways out. Where none waits, what serves and may not be whole. */
export function HeldNotice({ project, source }: Props) {
  const { held } = source
  const versions = useVersions(project.id, source.id)
  const serving = versions.data?.find(({ status }) => status === 'live')
  if (held === null) return serving === undefined ? null : <DoubtNotice version={serving} />
  const live = serving?.version
  const editor = project.role !== 'viewer'
  return (
    <Alert
      mb="md"
      variant="default"
      // oxlint-disable-next-line jsx-a11y/prefer-tag-over-role -- it is the role of a component
      role="status"
      title={`Version ${held.version} waits${live === undefined ? '' : `, version ${live} serves`}`}
      icon={<CirclePause size={18} aria-hidden />}
      styles={{ root: { background: 'var(--sluice-warn)', borderColor: 'var(--sluice-warn-line)' } }}
    >
      <Text>
        {sayReason(held.held_because)} It came <Ago at={held.created_at} />; callers still get the data before it.
      </Text>
      <WhyHeld projectId={project.id} because={held.held_because} />
      <Group gap="xs" mt="sm">
        {editor && (
          <ServeVersion
            projectId={project.id}
            source={source}
            version={{ version: held.version, held_because: held.held_because }}
            live={live}
            verb="Serve it anyway"
          />
        )}
        <Button
          component={Link}
          href={paths.table(project.id, source.table_name, 'versions')}
          size="xs"
          variant="default"
        >
          All versions
        </Button>
        <Button
          component={Link}
          href={paths.table(project.id, source.table_name, 'contract')}
          size="xs"
          variant="default"
        >
          Rules of the table
        </Button>
      </Group>
    </Alert>
  )
}

/** Data that serves and may not be whole; nothing where it is. */
function DoubtNotice({ version: { version, warnings } }: { version: Pick<DataVersion, 'version' | 'warnings'> }) {
  if (warnings.length === 0) return null
  return (
    <Alert
      mb="md"
      variant="default"
      // oxlint-disable-next-line jsx-a11y/prefer-tag-over-role -- it is the role of a component
      role="status"
      title={`Version ${version} may not be whole`}
      icon={<TriangleAlert size={18} aria-hidden />}
      styles={{ root: { background: 'var(--sluice-warn)', borderColor: 'var(--sluice-warn-line)' } }}
    >
      {warnings.map(({ code, message }) => (
        <Text key={code}>{message}</Text>
      ))}
    </Alert>
  )
}

/** Why it waits, in a sentence; what stands behind that is listed under it. */
export function sayReason({ reason, message }: HeldBecause): string {
  switch (reason) {
    case 'type_mismatch':
      return 'Some values are not of the type of their column.'
    case 'check_failed':
      return 'It fails checks of this table.'
    case 'breaking':
      return 'Deployed queries could not read it.'
    case 'error_object':
    case 'incomplete':
      return message
    default:
      return reason satisfies never
  }
}

/** Why a load may not be whole, a sentence each. */
export function LoadWarnings({ warnings }: { warnings: DataVersion['warnings'] }) {
  return warnings.map(({ code, message }) => (
    <Group key={code} gap={6} wrap="nowrap" align="flex-start" mt={4}>
      <TriangleAlert size={16} color="var(--sluice-warn-line)" aria-label="Warning" style={{ flexShrink: 0 }} />
      <Text size="sm">{message}</Text>
    </Group>
  ))
}

/** The columns, checks and queries behind it. */
export function WhyHeld({ projectId, because }: { projectId: string; because: HeldBecause }) {
  const { columns = [], checks = [], queries = [] } = because
  return (
    <>
      {columns.length > 0 && (
        <List spacing={2} mt={6}>
          {columns.map(({ name, expected, count, examples }) => (
            <List.Item key={name}>
              <b>{name}</b>: {sayCount(count, 'value is', 'values are')} no {sayType(expected)}
              {examples.length > 0 && (
                <>
                  , such as{' '}
                  {examples.slice(0, 3).map((example) => (
                    <Code key={example} mr={4}>
                      {example}
                    </Code>
                  ))}
                </>
              )}
            </List.Item>
          ))}
        </List>
      )}
      {checks.length > 0 && (
        <List spacing={2} mt={6}>
          {checks.map(({ message }) => (
            <List.Item key={message}>{message}</List.Item>
          ))}
        </List>
      )}
      {queries.length > 0 && <BrokenQueries projectId={projectId} queries={queries} />}
    </>
  )
}
