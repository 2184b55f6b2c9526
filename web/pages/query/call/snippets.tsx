import { Group, SegmentedControl, Stack } from '@mantine/core'
import { useState } from 'react'
import { CopyMark } from '../../../parts/text/copy.tsx'
import { Scroll } from '../../../parts/table/scroll.tsx'
import { writeSnippet, type CallTarget, type Language } from './snippet-text.ts'

const languages: Array<{ value: Language; label: string }> = [
  { value: 'curl', label: 'curl' },
  { value: 'typescript', label: 'TypeScript' },
  { value: 'python', label: 'Python' },
]

export function Snippets({ target, body }: { target: CallTarget; body: object }) {
  const [language, setLanguage] = useState<Language>('curl')
  const text = writeSnippet(language, location.origin, target, body)
  return (
    <Stack gap="xs">
      <Group justify="space-between">
        <SegmentedControl
          size="xs"
          aria-label="Language of the snippet"
          data={languages}
          value={language}
          onChange={(value) => setLanguage(languages.find((each) => each.value === value)?.value ?? 'curl')}
        />
        <CopyMark text={text} what="snippet" />
      </Group>
      <Scroll look="code" label="Snippet">
        {text}
      </Scroll>
    </Stack>
  )
}
