import { Button, Group } from '@mantine/core'
import { Plus } from 'lucide-react'
import { Link } from 'wouter'
import { paths } from '../../../browser/paths.ts'
import type { Project } from '../../../client/wire.ts'

/** The ways to a first table: APIs that are ready, one to try things on, one's own, a file. */
export function ConnectButtons({ project }: { project: Project }) {
  const own = paths.connection(project.id, 'new')
  return (
    <Group gap="sm" justify="inherit">
      <Button component={Link} href={paths.catalog(project.id)} leftSection={<Plus size={16} aria-hidden />}>
        Choose from the catalog
      </Button>
      <Button component={Link} href={`${own}?sample`} variant="default">
        Connect the sample API
      </Button>
      <Button component={Link} href={own} variant="default">
        Use your own
      </Button>
      <Button component={Link} href={paths.newFileTable(project.id)} variant="default">
        Upload a file
      </Button>
    </Group>
  )
}
