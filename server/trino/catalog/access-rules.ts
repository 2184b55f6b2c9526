import { modelSchema, modelUser, projectUser, schemaPrefix } from './names.ts'

/** The columns and properties that Trino adds to what a table has. */
const hiddenColumns = ['$path', '$file_modified_time', '$partition']
/** Session properties that the service sets for each query of a project, and no others. */
const limitProperties = 'query_max_(run_time|execution_time|memory|scan_physical_bytes)'

/**
 * Rules for Trino's file-based access control (`security.config-file`): the service makes tables, and the user of each
 * project reads that project's schemas and nothing else: no other project's, no system tables, no metadata. Another
 * user of the project, who asks no queries, makes tables for its models in a schema that neither of them reads.
 */
export function accessRules({ user, catalog, projectIds }: { user: string; catalog: string; projectIds: string[] }) {
  const users = '(models_)?prj_[0-9a-z]+'
  const columns = hiddenColumns.map((name) => ({ name, allow: false }))
  return {
    catalogs: [
      { user, catalog, allow: 'all' },
      { user: 'models_prj_[0-9a-z]+', catalog, allow: 'all' },
      { user: users, catalog, allow: 'read-only' },
      { allow: 'none' },
    ],
    schemas: [{ user, catalog, owner: true }, { owner: false }],
    tables: [
      { user, catalog, privileges: ['SELECT', 'INSERT', 'DELETE', 'UPDATE', 'OWNERSHIP'] },
      ...projectIds.flatMap((id) => [
        {
          user: `${projectUser(id)}|${modelUser(id)}`,
          catalog,
          schema: `${schemaPrefix(id)}[0-9a-f]{32}`,
          table: '[^$]*',
          privileges: ['SELECT'],
          columns,
        },
        {
          user: modelUser(id),
          catalog,
          schema: modelSchema(id),
          table: 'made_[0-9]+_[0-9a-f]{32}',
          privileges: ['INSERT', 'OWNERSHIP'],
        },
      ]),
      { privileges: [] },
    ],
    system_session_properties: [
      { user: users, property: limitProperties, allow: true },
      { user, allow: true },
      { allow: false },
    ],
    catalog_session_properties: [{ allow: false }],
    queries: [{ user, allow: ['execute', 'kill', 'view'] }, { user: users, allow: ['execute'] }, { allow: [] }],
    impersonation: [{ original_user: user, new_user: users, allow: true }],
    functions: [],
    procedures: [],
    system_information: [],
  }
}
