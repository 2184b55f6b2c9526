import { Button } from '@mantine/core'
import { Link } from 'wouter'
import { Heading } from '../text/heading.tsx'
import { Shell } from './shell.tsx'
import { paths } from '../../browser/paths.ts'

export function NotFoundPage() {
  return (
    <Shell>
      <Heading title="There is nothing here">The address may be mistyped, or what it named is gone.</Heading>
      <Button component={Link} href={paths.home}>
        Go to your projects
      </Button>
    </Shell>
  )
}
