import { Badge, Button, Code, Group, Modal, Select, Switch, TagsInput, Text, Textarea, TextInput } from '@mantine/core'
import { useForm } from '@mantine/form'
import { Braces, LockKeyhole, Plus } from 'lucide-react'
import { useState } from 'react'
import { call } from '../../client/api.ts'
import { AskFirst } from '../../parts/form/confirm.tsx'
import { CopyMark } from '../../parts/text/copy.tsx'
import { Empty } from '../../parts/text/empty.tsx'
import { ActForm } from '../../parts/form/act-form.tsx'
import { Heading } from '../../parts/text/heading.tsx'
import { Loaded } from '../../parts/text/loaded.tsx'
import { Row, Rows } from '../../parts/table/rows.tsx'
import { Ago } from '../../parts/text/time.tsx'
import { keys, useAct, useEnvironments, useVariables } from '../../client/queries.ts'
import { fieldErrors } from '../../client/refusals.ts'
import type { NewVariable, Project, Variable } from '../../client/wire.ts'
import { RowAct } from '../../parts/table/row-act.tsx'

/** Values that requests of this project name instead of holding them. */
export function VariablesSection({ project }: { project: Project }) {
  const variables = useVariables(project.id)
  const [adding, setAdding] = useState(false)
  const editor = project.role !== 'viewer'
  const add = (
    <Button leftSection={<Plus size={16} aria-hidden />} onClick={() => setAdding(true)}>
      Add
    </Button>
  )
  const some = (variables.data?.length ?? 0) > 0
  return (
    <>
      <Heading title="Variables" within={project.name} action={editor && some ? add : undefined}>
        Values that connections name instead of holding them. A variable can be read by everybody here; a secret is
        sealed, never shown again, and goes only where it may.
      </Heading>
      <Loaded query={variables}>
        {(list) =>
          list.length === 0 ? (
            <Empty icon={<Braces size={20} />} action={editor ? add : undefined} guide="connect-an-api">
              What several connections share is kept once: an address, a region, a key. One of an environment goes
              before one of the project.
            </Empty>
          ) : (
            <Rows label="Variables and secrets">
              {list.map((variable) => (
                <VariableRow key={variable.id} project={project} variable={variable} />
              ))}
            </Rows>
          )
        }
      </Loaded>
      <Modal opened={adding} onClose={() => setAdding(false)} title="Add a variable or secret">
        <NewForm project={project} onClose={() => setAdding(false)} />
      </Modal>
    </>
  )
}

/** How a request names it. */
function referenceTo({ name, secret }: Pick<Variable, 'name' | 'secret'>): string {
  return `{{${secret ? 'secret' : 'var'}:${name}}}`
}

function VariableRow({ project, variable }: { project: Project; variable: Variable }) {
  const [changing, setChanging] = useState(false)
  const path = `/v1/projects/${project.id}/variables/${variable.id}`
  const remove = useAct(() => call<undefined>('DELETE', path), {
    refresh: [keys.variables(project.id)],
    say: () => `${variable.name} is deleted.`,
  })
  const { name, secret, environment, value, origins } = variable
  return (
    <Row
      lead={secret ? <LockKeyhole size={16} /> : <Braces size={16} />}
      end={
        project.role !== 'viewer' && (
          <>
            <Button variant="default" size="xs" aria-label={`Change ${name}`} onClick={() => setChanging(true)}>
              Change
            </Button>
            <Modal opened={changing} onClose={() => setChanging(false)} title={`Change ${name}`}>
              <ChangeForm project={project} variable={variable} onClose={() => setChanging(false)} />
            </Modal>
            <AskFirst
              renderButton={(ask) => (
                <RowAct label={`Delete ${name}`} onClick={ask}>
                  Delete
                </RowAct>
              )}
              verb={`Delete ${name}`}
              act={remove}
            >
              Requests that name <Code>{referenceTo(variable)}</Code> would find nothing; while a connection does, it
              stays.
            </AskFirst>
          </>
        )
      }
    >
      <Group gap="xs">
        <Text fw={500}>{name}</Text>
        <Badge variant="default" radius="sm" tt="none" fw={500}>
          {environment ?? 'the whole project'}
        </Badge>
        <Group gap={2} wrap="nowrap">
          <Code>{referenceTo(variable)}</Code>
          <CopyMark text={referenceTo(variable)} what="how requests name it" />
        </Group>
      </Group>
      <Text size="xs" c="dimmed" style={{ overflowWrap: 'anywhere' }}>
        {secret ? `sealed, for ${origins.join(', ')}` : value} · changed <Ago at={variable.updated_at} />
      </Text>
    </Row>
  )
}

type Draft = { name: string; value: string; secret: boolean; origins: string[]; environment: string }

function NewForm({ project, onClose }: { project: Project; onClose: () => void }) {
  const environments = useEnvironments(project.id)
  const add = useAct((body: NewVariable) => call<Variable>('POST', `/v1/projects/${project.id}/variables`, { body }), {
    refresh: [keys.variables(project.id)],
    say: ({ name }) => `${name} is kept.`,
  })
  const form = useForm<Draft>({
    initialValues: { name: '', value: '', secret: false, origins: [], environment: '' },
    validate: {
      name: (name) => (name === '' ? 'Give it a name.' : null),
      origins: (origins, { secret }) => (secret && origins.length === 0 ? 'Say where it may be sent.' : null),
    },
  })
  const { secret } = form.values
  return (
    <ActForm
      onSubmit={form.onSubmit(({ name, value, origins, environment }) =>
        add.mutate(
          { name, value, secret, ...(secret && { origins }), ...(environment !== '' && { environment }) },
          { onSuccess: onClose, onError: (error) => form.setErrors(fieldErrors(error)) },
        ),
      )}
      act={add}
      fields={['name', 'value', 'origins', 'environment']}
      verb="Add"
      onClose={onClose}
    >
      <TextInput
        label="Name"
        description="Lower-case letters, digits and _, as requests write it."
        placeholder="shop_key"
        data-autofocus
        {...form.getInputProps('name')}
      />
      <Select
        label="For"
        data={[
          { value: '', label: 'the whole project' },
          ...(environments.data ?? []).map(({ name }) => ({ value: name, label: name })),
        ]}
        allowDeselect={false}
        {...form.getInputProps('environment')}
      />
      <Switch
        label="It is a secret"
        description="Sealed, never shown again, and sent only to the addresses below."
        {...form.getInputProps('secret', { type: 'checkbox' })}
      />
      <ValueField secret={secret} {...form.getInputProps('value')} />
      {secret && <OriginsField {...form.getInputProps('origins')} />}
    </ActForm>
  )
}

function ChangeForm({ project, variable, onClose }: { project: Project; variable: Variable; onClose: () => void }) {
  const path = `/v1/projects/${project.id}/variables/${variable.id}`
  const change = useAct((body: { value?: string; origins?: string[] }) => call<Variable>('PATCH', path, { body }), {
    refresh: [keys.variables(project.id)],
    say: ({ name }) => `${name} is changed.`,
  })
  const { secret } = variable
  const form = useForm({ initialValues: { value: variable.value ?? '', origins: variable.origins } })
  return (
    <ActForm
      onSubmit={form.onSubmit(({ value, origins }) =>
        change.mutate(
          // A secret that is not typed again stays as it is.
          { ...((!secret || value !== '') && { value }), ...(secret && { origins }) },
          { onSuccess: onClose, onError: (error) => form.setErrors(fieldErrors(error)) },
        ),
      )}
      act={change}
      fields={['value', 'origins']}
      verb="Change"
      onClose={onClose}
    >
      <ValueField secret={secret} isKnown {...form.getInputProps('value')} />
      {secret && <OriginsField {...form.getInputProps('origins')} />}
    </ActForm>
  )
}

/** A key may have lines, so that both are fields of several; a secret is not drawn as it is typed. */
function ValueField({ secret, isKnown = false, ...field }: { secret: boolean; isKnown?: boolean }) {
  const hint = isKnown && secret ? 'Empty keeps the one that is stored, for addresses it has already.' : undefined
  return (
    <Textarea
      label="Value"
      description={hint}
      autosize
      minRows={1}
      maxRows={8}
      autoComplete="off"
      spellCheck={false}
      {...(secret && { styles: { input: { WebkitTextSecurity: 'disc' } } })}
      {...field}
    />
  )
}

function OriginsField(field: object) {
  return (
    <TagsInput
      label="May be sent to"
      description="Scheme and host, such as https://api.example. Another one asks for the value again."
      placeholder="https://api.example"
      acceptValueOnBlur
      {...field}
    />
  )
}
