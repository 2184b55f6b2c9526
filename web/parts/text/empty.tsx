import { Anchor, Stack, Text } from '@mantine/core'
import type { ReactNode } from 'react'
import { Link } from 'wouter'
import { paths } from '../../browser/paths.ts'
import { SluiceGate } from './water.tsx'
import classes from './empty.module.css'

type Props = {
  icon: ReactNode
  children: ReactNode
  action?: ReactNode
  /** The guide about what would be here. */
  guide?: string
}

/** An empty list: one sentence, one button, and where to read more. */
export function Empty({ icon, children, action, guide }: Props) {
  return (
    <Stack className={classes.empty ?? ''} align="center" gap="md">
      <SluiceGate>{icon}</SluiceGate>
      <Text ta="center" maw="28rem" c="dimmed">
        {children}
      </Text>
      {action}
      {guide !== undefined && (
        <Anchor component={Link} href={paths.docs(guide)} size="xs">
          How it works
        </Anchor>
      )}
    </Stack>
  )
}
