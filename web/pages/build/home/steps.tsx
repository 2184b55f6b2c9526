import { Button, Text } from '@mantine/core'
import { Check, Circle } from 'lucide-react'
import { Link } from 'wouter'
import type { Project } from '../../../client/wire.ts'
import { ConnectButtons } from '../shared/connect-buttons.tsx'
import type { Step } from './checklist.ts'
import classes from './home.module.css'

/** The way to the first answer; it is gone once the project has given one. */
export function Steps({ project, steps }: { project: Project; steps: Step[] }) {
  const next = steps.find((step) => !step.isDone)
  return (
    <ol className={classes.steps} aria-label="Steps to a first answer">
      {steps.map((step, at) => {
        const { label, about, verb, to, isDone } = step
        return (
          <li key={label} className={classes.step} data-done={isDone || undefined}>
            {isDone ? <Check size={18} aria-label="Done" /> : <Circle size={18} aria-label="To do" />}
            <div className={classes.words}>
              <Text fw={600}>{label}</Text>
              {!isDone && <Text c="dimmed">{about}</Text>}
              {step === next && at === 0 && (
                <div className={classes.ways}>
                  <ConnectButtons project={project} />
                </div>
              )}
            </div>
            {!isDone && at > 0 && (
              <Button component={Link} href={to} variant={step === next ? 'filled' : 'default'}>
                {verb}
              </Button>
            )}
          </li>
        )
      })}
    </ol>
  )
}
