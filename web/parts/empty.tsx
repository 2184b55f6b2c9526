import { Stack, Text } from '@mantine/core'
import type { ReactNode } from 'react'
import classes from './empty.module.css'

/** An empty list: one sentence, one button. */
export function Empty({ icon, children, action }: { icon: ReactNode; children: ReactNode; action?: ReactNode }) {
  return (
    <Stack className={classes.empty ?? ''} align="center" gap="md">
      <div className={classes.icon} aria-hidden>
        {icon}
      </div>
      <Text ta="center" maw="28rem" c="dimmed">
        {children}
      </Text>
      {action}
    </Stack>
  )
}
