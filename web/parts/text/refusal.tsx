import { Alert, Anchor, Button, Group, List, Stack, Text } from '@mantine/core'
import { CircleAlert } from 'lucide-react'
import { isRefusal } from '../../client/api.ts'
import { paths } from '../../browser/paths.ts'
import { explain, isTestFailure, unplacedDetails } from '../../client/refusals.ts'
import { CopyMark } from './copy.tsx'
import classes from './refusal.module.css'

type Props = {
  error: Error | null
  /** Fields of the form around it, which show what concerns them themselves. */
  fields?: readonly string[]
  onRetry?: () => void
  /** The act without the tests that do not pass. */
  anyway?: { verb: string; act: () => void }
}

const none: readonly string[] = []

/** The error, its reason and the next step, with the id under which the server's log has it. */
export function RefusalNotice({ error, fields = none, onRetry, anyway }: Props) {
  if (error === null) return null
  const { what, next } = explain(error)
  const details = unplacedDetails(error, fields)
  const requestId = isRefusal(error) ? error.envelope.request_id : ''
  const code = isRefusal(error) ? error.envelope.error : null
  const failsTests = isTestFailure(error)
  // Every word of it stands beside its field already.
  if (details !== null && details.length === 0) return null
  return (
    <Alert role="alert" className={classes.notice ?? ''} icon={<CircleAlert size={18} aria-hidden />} variant="default">
      <Stack gap={6} align="flex-start">
        {details === null ? (
          <Text>{what}</Text>
        ) : (
          <>
            {failsTests && <Text>{details.length === 1 ? 'A test does' : `${details.length} tests do`} not pass:</Text>}
            <List spacing={2}>
              {details.map(({ field, sentence }) => (
                <List.Item key={`${field} ${sentence}`}>{sentence}</List.Item>
              ))}
            </List>
          </>
        )}
        {next !== null && <Text c="dimmed">{next}</Text>}
        {failsTests && anyway !== undefined && (
          <Button variant="default" size="xs" onClick={anyway.act}>
            {anyway.verb}
          </Button>
        )}
        {onRetry !== undefined && (
          <Button variant="default" size="xs" onClick={onRetry}>
            Try again
          </Button>
        )}
        <Group gap="sm">
          <RequestId id={requestId} />
          {code !== null && <Advice code={code} />}
        </Group>
      </Stack>
    </Alert>
  )
}

/** In a window of its own: what was typed here stays. */
function Advice({ code }: { code: string }) {
  return (
    <Anchor href={`${paths.docs('troubleshooting')}#${code}`} target="_blank" rel="noreferrer" size="xs">
      What to do about it
    </Anchor>
  )
}

function RequestId({ id }: { id: string }) {
  if (id === '') return null
  return (
    <Group gap={2} wrap="nowrap" className={classes.request ?? ''}>
      <Text size="xs" c="dimmed" ff="monospace">
        {id}
      </Text>
      <CopyMark text={id} what="request id" />
    </Group>
  )
}
