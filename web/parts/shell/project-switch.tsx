import { Button, Menu, Text } from '@mantine/core'
import { Check, ChevronsUpDown, LayoutGrid, Plus } from 'lucide-react'
import { Link } from 'wouter'
import { paths } from '../../browser/paths.ts'
import { useProjects } from '../../client/queries.ts'
import type { Project } from '../../client/wire.ts'
import classes from './project-switch.module.css'

/** Says which project this is and leads to the others. */
export function ProjectSwitch({ project, onCreate }: { project: Project | undefined; onCreate: () => void }) {
  const projects = useProjects()
  const others = projects.data ?? []
  return (
    <Menu
      position="bottom-start"
      width={280}
      offset={6}
      shadow="md"
      withinPortal={false}
      withInitialFocusPlaceholder={false}
    >
      <Menu.Target>
        <Button
          variant="subtle"
          color="gray"
          px="xs"
          className={classes.target ?? ''}
          rightSection={<ChevronsUpDown size={14} aria-hidden />}
          aria-label={project === undefined ? 'All projects: choose one' : `Project ${project.name}: choose another`}
        >
          <span className={classes.name}>{project?.name ?? 'All projects'}</span>
        </Button>
      </Menu.Target>
      <Menu.Dropdown className={classes.list ?? ''}>
        {others.length > 0 && (
          <>
            {others.map(({ id, name }) => (
              <Menu.Item
                key={id}
                component={Link}
                href={paths.project(id)}
                rightSection={id === project?.id ? <Check size={14} aria-label="You are here" /> : undefined}
              >
                <Text truncate>{name}</Text>
              </Menu.Item>
            ))}
            <Menu.Divider />
          </>
        )}
        <Menu.Item component={Link} href={paths.allProjects} leftSection={<LayoutGrid size={15} aria-hidden />}>
          All projects
        </Menu.Item>
        <Menu.Item leftSection={<Plus size={15} aria-hidden />} onClick={onCreate}>
          New project
        </Menu.Item>
      </Menu.Dropdown>
    </Menu>
  )
}
