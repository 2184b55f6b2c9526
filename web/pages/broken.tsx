import { Button, Group } from '@mantine/core'
import { Gate } from '../parts/shell/gate.tsx'

/** Stands where a page could not be drawn. */
export function Broken() {
  return (
    <Gate title="This page could not be shown" about="A fault of ours. What you saved is safe; load the page again.">
      <Group>
        <Button onClick={() => location.reload()}>Load it again</Button>
        <Button variant="default" onClick={() => location.assign('/')}>
          Go to your projects
        </Button>
      </Group>
    </Gate>
  )
}
