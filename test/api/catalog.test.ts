import { checkEntries } from '../catalog/check-entries.ts'

// A cursor with a bearer token, OAuth2 with offsets, and an API without pages; `npm test -- catalog` runs all entries.
checkEntries(['asana', 'box', 'frankfurter'])
