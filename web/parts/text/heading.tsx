import { Group, Text, Title } from '@mantine/core'
import type { ReactNode } from 'react'
import classes from './heading.module.css'

/** In one row: the page's name, also in the window, one sentence about it, and its main acts on the right. */
export function Heading({
  title,
  within,
  children,
  action,
}: {
  title: string
  /** The thing that the page belongs to, for the window's title. */
  within?: string
  children?: ReactNode
  action?: ReactNode
}) {
  return (
    <>
      <title>{[title, within, 'Sluice'].filter(Boolean).join(' · ')}</title>
      <Group justify="space-between" gap="xs" mb="md" mih={36}>
        <div className={classes.words}>
          <Title order={1}>{title}</Title>
          {children !== undefined && (
            <Text c="dimmed" component="div" className={classes.about ?? ''}>
              {children}
            </Text>
          )}
        </div>
        {action}
      </Group>
    </>
  )
}
