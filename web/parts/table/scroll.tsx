import { Box } from '@mantine/core'
import type { ReactNode } from 'react'
import classes from './scroll.module.css'

type Props = {
  label: string
  look: 'code' | 'tall' | 'list'
  children: ReactNode
}

/** A region that may be larger than its place. It takes the keyboard, or those without a mouse would not see all of it. */
export function Scroll({ label, look, children }: Props) {
  return (
    <Box component="section" className={classes[look] ?? ''} aria-label={label} tabIndex={0}>
      {children}
    </Box>
  )
}
