import { Text } from '@mantine/core'
import { CircleCheck, CircleX, Info, TriangleAlert } from 'lucide-react'
import type { ReactNode } from 'react'
import type { Mood, Part } from './moods.ts'
import classes from './verdict.module.css'

const icons = { good: CircleCheck, plain: Info, caution: TriangleAlert, bad: CircleX }

/** A line for each part, so that nobody has to look for the one that is bad. */
export function Parts({ parts }: { parts: Part[] }) {
  return (
    <ul className={classes.parts}>
      {parts.map(({ what, says, mood }) => {
        const Icon = icons[mood]
        return (
          <li key={what} data-mood={mood}>
            <Icon size={16} aria-hidden />
            <span>
              <b>{what}:</b> {says}
            </span>
          </li>
        )
      })}
    </ul>
  )
}

/** A finding in one sentence, and what it is founded on. */
export function Verdict({ says, mood, children }: { says: string; mood: Mood; children?: ReactNode }) {
  const Icon = icons[mood]
  return (
    <div className={classes.verdict} data-mood={mood} aria-live="polite">
      <Icon size={18} aria-hidden />
      <div className={classes.words}>
        <Text fw={600}>{says}</Text>
        {children}
      </div>
    </div>
  )
}
