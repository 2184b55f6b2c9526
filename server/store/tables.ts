/** Every table and its columns, as Kysely knows them. The migrations are the authority. */
export interface Tables {}
