import { Button, Group, Menu, Text } from '@mantine/core'
import { ClipboardPaste, RefreshCw, Save } from 'lucide-react'
import { Link } from 'wouter'
import { Heading } from '../../../parts/text/heading.tsx'
import { Ago } from '../../../parts/text/time.tsx'
import { paths } from '../../../browser/paths.ts'
import type { Project } from '../../../client/wire.ts'
import { SourceStatus } from '../shared/source-status.tsx'
import type { Datasource } from '../shared/wire.ts'
import { ConnectionMenu } from './connection-menu.tsx'

type Props = {
  project: Project
  source: Datasource | null
  isSaving: boolean
  /** Undefined where nothing is to be saved or discarded. */
  onSave: (() => void) | undefined
  onDiscard: (() => void) | undefined
  onPaste: () => void
  onLoadAll: () => void
}

/** Name, state and acts of a connection. */
export function ConnectionHeader({ project, source, isSaving, onSave, onDiscard, onPaste, onLoadAll }: Props) {
  const editor = project.role !== 'viewer'
  const acts = (
    <Group gap="xs">
      {onDiscard !== undefined && (
        <Button variant="default" onClick={onDiscard}>
          Discard changes
        </Button>
      )}
      <Button
        variant="default"
        disabled={onSave === undefined}
        loading={isSaving}
        onClick={onSave}
        leftSection={<Save size={16} aria-hidden />}
      >
        Save
      </Button>
      <ConnectionMenu project={project} source={source}>
        <Menu.Item leftSection={<ClipboardPaste size={15} aria-hidden />} onClick={onPaste}>
          Paste curl or OpenAPI…
        </Menu.Item>
        {source !== null && source.load.mode !== 'replace' && source.status !== 'new' && (
          <Menu.Item leftSection={<RefreshCw size={15} aria-hidden />} onClick={onLoadAll}>
            Fetch everything again
          </Menu.Item>
        )}
      </ConnectionMenu>
    </Group>
  )
  return (
    <Heading title={source?.name ?? 'New connection'} within={project.name} action={editor ? acts : undefined}>
      {source === null ? (
        'A request to an API becomes a table.'
      ) : (
        <Group component="span" gap="sm" display="inline-flex">
          <SourceStatus source={source} />
          {source.status !== 'new' && (
            <Link href={paths.table(project.id, source.table_name)}>{source.table_name}</Link>
          )}
          {source.refreshed_at !== null && (
            <span>
              fetched <Ago at={source.refreshed_at} />
            </span>
          )}
          {source.next_refresh_at !== null && (
            <span>
              again <Ago at={source.next_refresh_at} />
            </span>
          )}
          {source.last_error !== null && (
            <Text component="span" c="var(--sluice-danger)">
              {source.last_error.message}
            </Text>
          )}
        </Group>
      )}
    </Heading>
  )
}
