import { Paper, Stack, Text, Title } from '@mantine/core'
import type { ReactNode } from 'react'

/** One matter of a page that has several. */
export function Card({
  title,
  about,
  danger = false,
  children,
}: {
  title: string
  about?: ReactNode
  danger?: boolean
  children: ReactNode
}) {
  return (
    <Paper
      component="section"
      radius="lg"
      p="lg"
      bg="var(--sluice-surface)"
      bd={`1px solid var(${danger ? '--sluice-danger-line' : '--sluice-line'})`}
    >
      <Stack gap="md">
        <div>
          <Title order={2}>{title}</Title>
          {about !== undefined && (
            <Text c="dimmed" mt={2}>
              {about}
            </Text>
          )}
        </div>
        {children}
      </Stack>
    </Paper>
  )
}
