import { Link } from 'wouter'

/** Where the thing is that a message speaks of. */
export type Lead = { to: string; label: string }

/** A message with the way to what it is about. */
export function LedMessage({ words, lead }: { words: string; lead: Lead }) {
  return (
    <>
      <span>{words}</span>{' '}
      <Link href={lead.to} style={{ color: 'var(--mantine-color-anchor)', whiteSpace: 'nowrap' }}>
        {lead.label}
      </Link>
    </>
  )
}
