import { Loader, VisuallyHidden } from '@mantine/core'

/** That something is on its way: a sign for those who see it, words for those who hear the page. */
export function Waiting({ size, says }: { size: number | string; says: string }) {
  return (
    <>
      <Loader size={size} aria-hidden />
      <VisuallyHidden>{says}</VisuallyHidden>
    </>
  )
}
