/* oxlint-disable jsx-a11y/prefer-tag-over-role -- a line that is drawn takes the keyboard and has a value, which <hr> does not */
import { useLocalStorage } from '@mantine/hooks'
import { useRef, type CSSProperties, type KeyboardEvent, type PointerEvent, type ReactNode } from 'react'
import classes from './query.module.css'

const lowest = 120
const highest = 640
const step = 24
const usual = 240

/** The editor over the results; the line between them is drawn up and down, and stays where it was put. */
export function Split({ top, children }: { top: ReactNode; children: ReactNode }) {
  const [height, setHeight] = useLocalStorage({
    key: 'sluice-editor-height',
    defaultValue: usual,
    getInitialValueInEffect: false,
  })
  const drawn = useRef<{ y: number; height: number }>(null)
  const put = (next: number): void => setHeight(Math.round(Math.min(highest, Math.max(lowest, next))))
  const byKey = ({ key }: KeyboardEvent): void => {
    if (key === 'ArrowUp') put(height - step)
    if (key === 'ArrowDown') put(height + step)
    if (key === 'Home') put(lowest)
    if (key === 'End') put(highest)
  }
  const begin = (event: PointerEvent<HTMLDivElement>): void => {
    drawn.current = { y: event.clientY, height }
    event.currentTarget.setPointerCapture(event.pointerId)
  }
  const draw = (event: PointerEvent<HTMLDivElement>): void => {
    if (drawn.current !== null) put(drawn.current.height + event.clientY - drawn.current.y)
  }
  return (
    <>
      <div style={{ '--editor-height': `${height}px` } as CSSProperties} className={classes.top}>
        {top}
      </div>
      <div
        role="separator"
        aria-label="Height of the editor"
        aria-orientation="horizontal"
        aria-valuenow={height}
        aria-valuemin={lowest}
        aria-valuemax={highest}
        tabIndex={0}
        className={classes.handle}
        onKeyDown={byKey}
        onPointerDown={begin}
        onPointerMove={draw}
        onPointerUp={() => {
          drawn.current = null
        }}
      />
      {children}
    </>
  )
}
