import { Alert, Button, Group, Text } from '@mantine/core'
import { CircleAlert } from 'lucide-react'
import { useLocation } from 'wouter'
import type { Tested } from '../../shared/wire.ts'

type Problem = NonNullable<Tested['problem']>
type Props = { problem: Problem; onTest: () => void }

const verbs: Record<Problem['code'], 'Open Authentication' | 'Edit the address' | 'Test again'> = {
  unauthorized: 'Open Authentication',
  forbidden: 'Open Authentication',
  not_found: 'Edit the address',
  not_data: 'Edit the address',
  rate_limited: 'Test again',
  server_error: 'Test again',
  upstream_errors: 'Test again',
  not_ready: 'Test again',
}

/** Why the answer is no data, and the one thing to do next. */
export function ProblemNotice({ problem: { code, message }, onTest }: Props) {
  const [path, navigate] = useLocation()
  const verb = verbs[code]
  const act = () => {
    if (verb === 'Test again') onTest()
    else if (verb === 'Open Authentication') navigate(`${path}?part=authentication&at=${Date.now()}`, { replace: true })
    else document.querySelector<HTMLInputElement>('input[aria-label="Address"]')?.focus()
  }
  return (
    <Alert mt="sm" variant="default" role="alert" icon={<CircleAlert size={18} aria-hidden />}>
      <Group justify="space-between" wrap="nowrap">
        <Text>{message}</Text>
        <Button size="xs" onClick={act}>
          {verb}
        </Button>
      </Group>
    </Alert>
  )
}
