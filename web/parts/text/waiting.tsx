import { Loader, VisuallyHidden } from '@mantine/core'
import { SluiceGate } from './water.tsx'

/** A sign that something is on its way, with words for those who hear the page. */
export function Waiting({ size, says }: { size?: number | string; says: string }) {
  return (
    <>
      {size === undefined ? <SluiceGate flows /> : <Loader size={size} aria-hidden />}
      <VisuallyHidden>{says}</VisuallyHidden>
    </>
  )
}
