import { Button, Kbd } from '@mantine/core'
import { Play } from 'lucide-react'

/** Submits the form that it is in, as Ctrl and Enter do. */
export function RunButton({ isRunning }: { isRunning: boolean }) {
  return (
    <Button
      type="submit"
      loading={isRunning}
      leftSection={<Play size={16} aria-hidden />}
      rightSection={
        <Kbd size="xs" aria-hidden>
          Ctrl ⏎
        </Kbd>
      }
    >
      Run
    </Button>
  )
}
