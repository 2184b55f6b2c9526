import { Button, Code, Group, Stack, TagsInput, Text, TextInput } from '@mantine/core'
import { useForm } from '@mantine/form'
import { useLocation } from 'wouter'
import { call } from '../../client/api.ts'
import { Card } from '../../parts/text/card.tsx'
import { SettingsForm } from '../../parts/form/settings-form.tsx'
import { AskFirst } from '../../parts/form/confirm.tsx'
import { CopyMark } from '../../parts/text/copy.tsx'
import { Heading } from '../../parts/text/heading.tsx'
import { aRole } from '../../parts/form/roles.tsx'
import { Moment } from '../../parts/text/time.tsx'
import { paths } from '../../browser/paths.ts'
import { keys, useAct, useForgetProject } from '../../client/queries.ts'
import type { Project } from '../../client/wire.ts'
import { EngineCard } from './engine.tsx'

export function ProjectSection({ project }: { project: Project }) {
  const owner = project.role === 'owner'
  return (
    <>
      <Heading title="Project" within={project.name}>
        {owner ? undefined : `You are ${aRole(project.role)} here. Owners rename and delete the project.`}
      </Heading>
      <Stack gap="lg">
        <Card title="Identifier" about="Callers name the project by it; it never changes.">
          <Group gap="xs">
            <Code>{project.id}</Code>
            <CopyMark text={project.id} what="the identifier" />
            <Text c="dimmed" size="xs" ml="auto">
              Created <Moment at={project.created_at} />
            </Text>
          </Group>
        </Card>
        {owner && <RenameCard project={project} />}
        {owner && <OriginsCard project={project} />}
        <EngineCard project={project} />
        {owner && <DeleteCard project={project} />}
      </Stack>
    </>
  )
}

function RenameCard({ project }: { project: Project }) {
  const rename = useAct((body: { name: string }) => call<Project>('PATCH', `/v1/projects/${project.id}`, { body }), {
    refresh: [keys.projects],
    say: ({ name }) => `The project is called ${name} now.`,
  })
  const form = useForm({
    initialValues: { name: project.name },
    validate: { name: (name) => (name.trim() === '' ? 'Give it a name.' : null) },
  })
  return (
    <Card title="Name" about="Only people see it; renaming breaks nothing.">
      <SettingsForm form={form} act={rename} verb="Rename" isShort>
        <TextInput aria-label="Project name" flex="1 1 14rem" {...form.getInputProps('name')} />
      </SettingsForm>
    </Card>
  )
}

/** Pages that may read answers of the query endpoints with a browser token. */
function OriginsCard({ project }: { project: Project }) {
  const save = useAct(
    (body: { allowed_origins: string[] }) => call<Project>('PATCH', `/v1/projects/${project.id}`, { body }),
    { refresh: [keys.projects], say: () => 'The allowed origins are saved.' },
  )
  const form = useForm({ initialValues: { allowed_origins: project.allowed_origins } })
  return (
    <Card title="Allowed origins" about="Web pages of these origins may read answers (CORS). None unless named.">
      <SettingsForm form={form} act={save} verb="Save" isShort>
        <TagsInput
          aria-label="Allowed origins"
          placeholder={form.values.allowed_origins.length === 0 ? 'https://app.example' : ''}
          flex="1 1 20rem"
          maxTags={100}
          {...form.getInputProps('allowed_origins')}
        />
      </SettingsForm>
    </Card>
  )
}

function DeleteCard({ project }: { project: Project }) {
  const [, navigate] = useLocation()
  const forget = useForgetProject(project.id)
  const remove = useAct(
    async () => {
      await call<undefined>('DELETE', `/v1/projects/${project.id}`)
      forget()
      navigate(paths.home)
    },
    { refresh: [keys.projects], say: () => `The project ${project.name} is deleted.` },
  )
  return (
    <Card title="Delete the project" about="With its data, queries, endpoints and keys. This cannot be undone." danger>
      <AskFirst
        renderButton={(ask) => (
          <Button variant="default" c="var(--sluice-danger)" w="fit-content" onClick={ask}>
            Delete {project.name}
          </Button>
        )}
        verb={`Delete ${project.name}`}
        typed={project.name}
        act={remove}
      >
        Everything in it goes: data, queries, endpoints, keys and members’ access. Calls that use it are refused at
        once. Only the audit log stays.
      </AskFirst>
    </Card>
  )
}
