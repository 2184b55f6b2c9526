import { ActionIcon, Button, Checkbox, TextInput } from '@mantine/core'
import { Plus, X } from 'lucide-react'
import { isSecretName } from '../../../../../api/secret-names.ts'
import { newPair, type Pair } from './draft.ts'
import classes from './connection.module.css'

type Props = {
  /** The noun for one line: `parameter`, `header`. */
  what: string
  pairs: Pair[]
  onChange: (pairs: Pair[]) => void
  /** Whether a line can be marked as one without which the request is not sent. */
  withRequired?: boolean
  disabled?: boolean
}

/** Names and values as a table that grows by a line. */
export function Pairs({ what, pairs, onChange, withRequired = false, disabled = false }: Props) {
  const change = (id: number, part: Partial<Pair>): void =>
    onChange(pairs.map((pair) => (pair.id === id ? { ...pair, ...part } : pair)))
  return (
    <div className={classes.pairs}>
      {pairs.map((pair, index) => (
        <div key={pair.id} className={classes.pair}>
          <TextInput
            aria-label={`Name of ${what} ${index + 1}`}
            placeholder="name"
            size="xs"
            value={pair.name}
            disabled={disabled}
            onChange={(event) => change(pair.id, { name: event.currentTarget.value })}
          />
          <TextInput
            aria-label={`Value of ${what} ${index + 1}`}
            placeholder="value"
            size="xs"
            value={pair.value}
            disabled={disabled}
            onChange={(event) => change(pair.id, { value: event.currentTarget.value })}
          />
          {withRequired && (
            <Checkbox
              label="required"
              aria-label={`required: ${what} ${index + 1}`}
              size="xs"
              checked={pair.required}
              disabled={disabled}
              onChange={(event) => change(pair.id, { required: event.currentTarget.checked })}
            />
          )}
          <Checkbox
            label="secret"
            aria-label={`secret: ${what} ${index + 1}`}
            size="xs"
            title={isSecretName(pair.name) ? 'Secret by its name' : 'Stored sealed and shown to no one again'}
            checked={pair.secret || isSecretName(pair.name)}
            disabled={disabled || isSecretName(pair.name)}
            onChange={(event) => change(pair.id, { secret: event.currentTarget.checked })}
          />
          <ActionIcon
            variant="subtle"
            color="gray"
            aria-label={`Remove ${what} ${index + 1}`}
            disabled={disabled}
            onClick={() => onChange(pairs.filter(({ id }) => id !== pair.id))}
          >
            <X size={14} aria-hidden />
          </ActionIcon>
        </div>
      ))}
      {!disabled && (
        <Button
          variant="subtle"
          size="xs"
          className={classes.add ?? ''}
          leftSection={<Plus size={14} aria-hidden />}
          onClick={() => onChange([...pairs, newPair()])}
        >
          Add a {what}
        </Button>
      )}
    </div>
  )
}
