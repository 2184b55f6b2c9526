import { Group, Stack, Text, Title } from '@mantine/core'
import type { ReactNode } from 'react'

/** The page's name in the window and on the page, one sentence about it, and its main act on the right. */
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
      <Group justify="space-between" align="flex-start" gap="md" mb="lg">
        <Stack gap={4} maw="46rem">
          <Title order={1}>{title}</Title>
          {children !== undefined && <Text c="dimmed">{children}</Text>}
        </Stack>
        {action}
      </Group>
    </>
  )
}
