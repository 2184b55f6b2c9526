import { Paper, Stack, Text, Title } from '@mantine/core'
import type { ReactNode } from 'react'
import classes from './gate.module.css'
import { Water } from '../text/water.tsx'
import { Logo } from './logo.tsx'

/** The frame of the pages before the app: signing in and joining. */
export function Gate({ title, about, children }: { title: string; about?: ReactNode; children?: ReactNode }) {
  return (
    <main className={classes.page}>
      <title>{`${title} · Sluice`}</title>
      <div className={classes.column}>
        <div className={classes.brand}>
          <Logo size={32} />
          <span>Sluice</span>
        </div>
        <Paper className={classes.card ?? ''}>
          <Stack gap="lg">
            <Stack gap={4}>
              <Title order={1}>{title}</Title>
              {about !== undefined && <Text c="dimmed">{about}</Text>}
            </Stack>
            {children}
          </Stack>
        </Paper>
        <Text size="xs" c="dimmed" ta="center">
          HTTP APIs flow in as data; questions and calls flow out as answers.
        </Text>
      </div>
      <div className={classes.water}>
        <Water />
      </div>
    </main>
  )
}
