import { Box } from '@mantine/core'
import type { ReactNode, UIEventHandler } from 'react'
import classes from './deploy.module.css'

type Props = {
  label: string
  look?: 'sideways' | 'code' | 'grid' | 'tall'
  children: ReactNode
  onScroll?: UIEventHandler<HTMLElement>
}

/** What may be larger than its place. It takes the keyboard, or those without a mouse would not see all of it. */
export function Scroll({ label, look = 'sideways', children, onScroll }: Props) {
  return (
    <Box component="section" className={classes[look] ?? ''} aria-label={label} tabIndex={0} onScroll={onScroll}>
      {children}
    </Box>
  )
}
