import { Button, Text } from '@mantine/core'
import { Check, Circle } from 'lucide-react'
import { Link } from 'wouter'
import { Heading } from '../../parts/text/heading.tsx'
import { paths } from '../../browser/paths.ts'
import { useProjects } from '../../client/queries.ts'
import type { Project } from '../../client/wire.ts'
import { useChecklist, useHidden } from './checklist.ts'
import classes from './start.module.css'

/** The steps done and left until an API of one's own answers. */
export function StartPage({ project }: { project: Project }) {
  const { steps, isKnown, isDone } = useChecklist(project, true)
  const { isHidden, hide } = useHidden(project)
  const projects = useProjects()
  const example = projects.data?.find((each) => each.is_example && each.role !== 'viewer')
  return (
    <>
      <Heading title="Getting started" within={project.name}>
        {isDone ? 'All done: this project answers questions.' : 'From an API to answers, in these steps.'}
      </Heading>
      {isKnown && (
        <ol className={classes.steps} aria-label="Steps">
          {steps.map(({ label, about, to, isDone: ticked }) => (
            <li key={label} className={classes.step} data-done={ticked || undefined}>
              {ticked ? <Check size={18} aria-label="Done" /> : <Circle size={18} aria-label="To do" />}
              <span>
                <Link href={to} className={classes.title}>
                  {label}
                </Link>
                <Text c="dimmed">{about}</Text>
              </span>
            </li>
          ))}
        </ol>
      )}
      {example !== undefined && (
        <Text mt="lg">
          New here? <Link href={paths.tour(example.id)}>The tour of the example project</Link> shows the whole way in
          five steps.
        </Text>
      )}
      {!isDone && (
        <Button variant="default" mt="lg" onClick={() => hide(!isHidden)}>
          {isHidden ? 'Show the next step' : 'Hide'}
        </Button>
      )}
    </>
  )
}
