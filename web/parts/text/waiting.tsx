import { Loader, VisuallyHidden } from '@mantine/core'

/** A sign that something is on its way, with words for those who hear the page. */
export function Waiting({ size, says }: { size: number | string; says: string }) {
  return (
    <>
      <Loader size={size} aria-hidden />
      <VisuallyHidden>{says}</VisuallyHidden>
    </>
  )
}
