import { Text } from '@mantine/core'
import { CircleCheck, TriangleAlert } from 'lucide-react'
import type { ReactNode } from 'react'
import classes from './verdict.module.css'

/** What was found out, in one sentence, and what it is founded on. */
export function Verdict({ says, bad, children }: { says: string; bad: boolean; children?: ReactNode }) {
  const Icon = bad ? TriangleAlert : CircleCheck
  return (
    <div className={classes.verdict} data-bad={bad || undefined} aria-live="polite">
      <Icon size={18} aria-hidden />
      <div className={classes.words}>
        <Text fw={600}>{says}</Text>
        {children}
      </div>
    </div>
  )
}
