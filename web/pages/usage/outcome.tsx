import { Badge, type BadgeProps } from '@mantine/core'

type Props = Pick<BadgeProps, 'size'> & { status: number; reason: string | null; error: string | null; good?: string }

/** How a call ended. An answer has a reason where it says what it leaves out of the question. */
export function Outcome({ status, reason, error, good = '', ...size }: Props) {
  return (
    <Badge
      miw="max-content"
      variant="light"
      tt="none"
      radius="sm"
      color={status >= 400 ? 'red' : reason === null ? 'green' : 'yellow'}
      c="var(--mantine-color-text)"
      {...size}
    >
      {status} {reason ?? error ?? good}
    </Badge>
  )
}
