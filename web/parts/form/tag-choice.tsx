import { Chip, Group } from '@mantine/core'
import classes from './tag-choice.module.css'

type Props = {
  tags: string[]
  /** The one that is chosen; nothing where all are shown. */
  tag: string | null
  /** Nothing chooses all. */
  onChange: (tag: string) => void
}

/** Shows of a list only what has a tag, or all of it again. */
export function TagChoice({ tags, tag, onChange }: Props) {
  return (
    <Chip.Group multiple={false} value={tag ?? ''} onChange={onChange}>
      <Group gap={6} component="fieldset" aria-label="Only with the tag" className={classes.chips ?? ''}>
        <Chip size="xs" value="">
          All
        </Chip>
        {tags.map((each) => (
          <Chip key={each} size="xs" value={each}>
            {each}
          </Chip>
        ))}
      </Group>
    </Chip.Group>
  )
}
