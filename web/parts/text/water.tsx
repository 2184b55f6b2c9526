import { useId, type ReactNode } from 'react'
import classes from './water.module.css'

/** Lines of calm water, as wide as their place. `flows` while something is on its way. */
export function Water({ flows = false }: { flows?: boolean }) {
  const id = useId()
  return (
    <svg className={classes.water} data-flows={flows || undefined} aria-hidden focusable="false">
      <defs>
        <pattern id={id} width="40" height="30" patternUnits="userSpaceOnUse">
          <path d="M0 6q10-5 20 0t20 0" />
          <path d="M-10 15q10-5 20 0t20 0 20 0" opacity="0.6" />
          <path d="M0 24q10-5 20 0t20 0" opacity="0.3" />
        </pattern>
      </defs>
      <rect x="-40" fill={`url(#${id})`} stroke="none" />
    </svg>
  )
}

/** A raised gate between its posts, with a mark on it, and the water that runs out under it. */
export function SluiceGate({ children, flows = false }: { children?: ReactNode; flows?: boolean }) {
  return (
    <div className={classes.sluice} aria-hidden>
      <div className={classes.gate}>{children}</div>
      <Water flows={flows} />
    </div>
  )
}
