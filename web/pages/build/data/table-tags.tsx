import { Button, Group } from '@mantine/core'
import { Tag } from 'lucide-react'
import { useState } from 'react'
import { Link } from 'wouter'
import { call } from '../../../client/api.ts'
import { paths } from '../../../browser/paths.ts'
import { useAct } from '../../../client/queries.ts'
import { thingKeys, useDatasources } from '../../../client/things.ts'
import type { Project } from '../../../client/wire.ts'
import { TagList, TagsDialog, tagsOf } from '../shared/tags.tsx'
import type { Datasource } from '../shared/wire.ts'

/** The tags of a table, and the way to its place in the map. */
export function TableTags({ project, source }: { project: Project; source: Datasource }) {
  const [opened, setOpened] = useState(false)
  const sources = useDatasources(project.id)
  const tag = useAct(
    (tags: string[]) =>
      call<Datasource>('PATCH', `/v1/projects/${project.id}/datasources/${source.id}`, { body: { tags } }),
    { refresh: [thingKeys.sources(project.id), thingKeys.map(project.id)], say: () => 'The tags are saved.' },
  )
  const isEditor = project.role !== 'viewer'
  return (
    <Group gap="xs" mb="sm">
      <Link href={paths.map(project.id, `table ${source.table_name}`)}>See it in the map</Link>
      <TagList tags={source.tags} />
      {isEditor && (
        <Button
          size="compact-xs"
          variant="subtle"
          color="gray"
          leftSection={<Tag size={13} aria-hidden />}
          onClick={() => setOpened(true)}
        >
          {source.tags.length === 0 ? 'Add tags' : 'Change tags'}
        </Button>
      )}
      <TagsDialog
        opened={opened}
        onClose={() => setOpened(false)}
        name={source.table_name}
        tags={source.tags}
        known={tagsOf(sources.data ?? [])}
        act={tag}
      />
    </Group>
  )
}
