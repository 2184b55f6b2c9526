import { CloseButton, Progress, Text } from '@mantine/core'
import { useEffect } from 'react'
import { Link } from 'wouter'
import { paths } from '../../browser/paths.ts'
import type { Project } from '../../client/wire.ts'
import { useChecklist, useHidden } from './checklist.ts'
import classes from './start.module.css'

/** One line above the pages of Build until the first API of one's own has answered a question. */
export function NextStep({ project, section }: { project: Project; section: string }) {
  const { isHidden, hide } = useHidden(project)
  const isFor = project.role !== 'viewer' && !isHidden && section !== 'start' && section !== 'tour'
  if (!isFor) return null
  return project.is_example ? (
    <div className={classes.line}>
      <Text className={classes.words ?? ''}>
        This project is an example.{' '}
        <Link href={paths.tour(project.id)}>Take the tour: five steps that do something</Link>
      </Text>
      <CloseButton size="sm" aria-label="Hide the tour" onClick={() => hide(true)} />
    </div>
  ) : (
    <OwnStep project={project} onHide={() => hide(true)} />
  )
}

function OwnStep({ project, onHide }: { project: Project; onHide: () => void }) {
  const { steps, isKnown, isDone } = useChecklist(project, true)
  useEffect(() => {
    // It answers: there is nothing left to say, here or on the next visit.
    if (isDone) onHide()
    // oxlint-disable-next-line react-hooks/exhaustive-deps -- once
  }, [isDone])
  const next = steps.find((step) => !step.isDone)
  if (!isKnown || next === undefined) return null
  const done = steps.filter((step) => step.isDone).length
  return (
    <div className={classes.line}>
      <Progress
        value={(done / steps.length) * 100}
        aria-label={`${done} of ${steps.length} steps done`}
        className={classes.progress ?? ''}
      />
      <Text className={classes.words ?? ''}>
        Getting started, {done} of {steps.length}. Next:{' '}
        {`${next.label.slice(0, 1).toLowerCase()}${next.label.slice(1)}`}.{' '}
        <Link href={paths.start(project.id)}>See the steps</Link>
      </Text>
      <CloseButton size="sm" aria-label="Hide the steps" onClick={onHide} />
    </div>
  )
}
