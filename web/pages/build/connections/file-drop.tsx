import { Button, Text } from '@mantine/core'
import { FileUp } from 'lucide-react'
import { useRef, useState, type DragEvent } from 'react'
import classes from './fields/connection.module.css'

type Props = { onFile: (file: File) => void; disabled: boolean }

const kinds = '.csv,.tsv,.json,.ndjson,.jsonl,.parquet,.xlsx,.xml,.gz,.zst'

/** Where a file is dropped, or chosen by those who would rather not drag. */
export function FileDrop({ onFile, disabled }: Props) {
  const input = useRef<HTMLInputElement>(null)
  const [isOver, setIsOver] = useState(false)
  const take = (files: FileList | null): void => {
    const file = files?.[0]
    if (file !== undefined && !disabled) onFile(file)
  }
  const over = (event: DragEvent, isHere: boolean): void => {
    event.preventDefault()
    setIsOver(isHere && !disabled)
  }
  return (
    <div
      className={classes.drop}
      data-over={isOver || undefined}
      onDragOver={(event) => over(event, true)}
      onDragLeave={(event) => over(event, false)}
      onDrop={(event) => {
        over(event, false)
        take(event.dataTransfer.files)
      }}
    >
      <FileUp size={22} aria-hidden />
      <Text>Drop a file here</Text>
      <Text size="xs" c="dimmed" ta="center">
        CSV, JSON, NDJSON, Parquet, Excel or XML, also packed as .gz or .zst
      </Text>
      <Button variant="default" size="xs" disabled={disabled} onClick={() => input.current?.click()}>
        Choose a file
      </Button>
      <input
        ref={input}
        type="file"
        accept={kinds}
        hidden
        aria-label="File to upload"
        onChange={(event) => {
          take(event.currentTarget.files)
          // The same file may be chosen again, after it was mended.
          event.currentTarget.value = ''
        }}
      />
    </div>
  )
}
