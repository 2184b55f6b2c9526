import { Button, Text } from '@mantine/core'
import { ChevronRight, FolderOpen, Plus } from 'lucide-react'
import { Link, Redirect, useSearch } from 'wouter'
import { Empty } from '../parts/text/empty.tsx'
import { Heading } from '../parts/text/heading.tsx'
import { Loaded } from '../parts/text/loaded.tsx'
import { Growing } from '../parts/table/more.tsx'
import { RoleBadge } from '../parts/form/roles.tsx'
import { useShellDialogs } from '../parts/shell/shell-dialogs.tsx'
import { Shell } from '../parts/shell/shell.tsx'
import { Day } from '../parts/text/time.tsx'
import { paths } from '../browser/paths.ts'
import { useProjects } from '../client/queries.ts'
import type { Project } from '../client/wire.ts'
import classes from './projects.module.css'

/** The projects, or straight into the only one unless the list itself was asked for. */
export function ProjectsPage() {
  const projects = useProjects()
  const all = new URLSearchParams(useSearch()).has('all')
  const [only, ...more] = projects.data ?? []
  if (only !== undefined && more.length === 0 && !all) return <Redirect to={paths.project(only.id)} replace />
  return (
    <Shell>
      <Loaded query={projects}>{(list) => <ProjectList projects={list} />}</Loaded>
    </Shell>
  )
}

function ProjectList({ projects }: { projects: Project[] }) {
  const { newProject } = useShellDialogs()
  const button = (
    <Button leftSection={<Plus size={16} aria-hidden />} onClick={newProject}>
      New project
    </Button>
  )
  return (
    <>
      <Heading title="Projects" action={projects.length > 0 ? button : undefined} />
      {projects.length === 0 ? (
        <Empty icon={<FolderOpen size={20} />} action={button} guide="quick-start">
          A project holds the data of one subject, the queries over it and the endpoints they become.
        </Empty>
      ) : (
        <Growing items={projects} what="projects">
          {(shown) => (
            <ul className={classes.list} aria-label="Projects">
              {shown.map((project) => (
                <li key={project.id}>
                  <Link href={paths.project(project.id)} className={classes.card}>
                    <span className={classes.words}>
                      <Text component="span" fw={600} lineClamp={2}>
                        {project.name}
                      </Text>
                      <Text component="span" size="xs" c="dimmed" display="block">
                        Since <Day at={project.created_at} />
                      </Text>
                    </span>
                    <RoleBadge role={project.role} />
                    <ChevronRight size={16} aria-hidden className={classes.arrow} />
                  </Link>
                </li>
              ))}
            </ul>
          )}
        </Growing>
      )}
    </>
  )
}
