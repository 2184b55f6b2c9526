import type { Database } from '../../store/index.ts'

/** State of this installation's example. */
export type ExampleState = {
  example: 'wanted' | 'off' | 'done'
  projectId: string | null
  keyId: string | null
}

type Store = Pick<Database, 'db'>

export function readExampleState({ db }: Store): Promise<ExampleState> {
  return db
    .selectFrom('installation')
    .select(['example', 'exampleProjectId as projectId', 'exampleKeyId as keyId'])
    .executeTakeFirstOrThrow()
}

/** The project that came with the installation; null where none did. */
export async function exampleProjectId({ db }: Store): Promise<string | null> {
  const row = await db.selectFrom('installation').select('exampleProjectId').executeTakeFirst()
  return row?.exampleProjectId ?? null
}

/** Said as soon as it is there: one that a crash leaves half made is found again. */
export async function noteExampleProject({ db }: Store, projectId: string): Promise<void> {
  await db.updateTable('installation').set({ exampleProjectId: projectId }).execute()
}

export async function noteExampleDone({ db }: Store, keyId: string): Promise<void> {
  await db.updateTable('installation').set({ example: 'done', exampleKeyId: keyId }).execute()
}
