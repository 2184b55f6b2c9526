export { openAttempts, type Attempts } from './attempts.ts'
export { listAudit, recordAct, type AuditEntry } from './audit.ts'
export { authenticateManagement } from './authenticate.ts'
export { personOf, systemCaller, type Caller } from './caller.ts'
export {
  acceptInvitation,
  invite,
  listInvitations,
  makeSignInLink,
  readInvitation,
  signInByLink,
  withdrawInvitation,
  type Invitation,
} from './links.ts'
export { authenticateKey, readKeyCredential, type KeyCaller } from './keys/authenticate.ts'
export type { KeyCredential } from './keys/snapshot.ts'
export { findKey, listKeys, type ApiKey } from './keys/find.ts'
export { withFixedParameters } from './keys/fixed-parameters.ts'
export {
  createKey,
  disableKey,
  dropProjectFromKeys,
  enableKey,
  revokeKey,
  rotateKey,
  updateKey,
  type KeyInput,
} from './keys/manage.ts'
export { openKeyAccess, type KeyAccess } from './keys/open.ts'
export { permittedQueries, type Permission } from './keys/permissions.ts'
export { reachOfKey, type Reach } from './keys/reach.ts'
export { placeFor, resolveCall, resolveScope } from './keys/resolve.ts'
export { takeCall, type Standing, type Verdict } from './limits/limiter.ts'
export { ratePolicy } from './limits/policies.ts'
export { changeRole, listMembers, removeMember, type Member } from './members.ts'
export { actAs, ensureFirstUser, findUser, signIn, updateSelf, type User, type UserCaller } from './people.ts'
export { effectiveRole, personBehind, requireRole } from './roles.ts'
export { endSession, findSession, forgetExpired, keepSession } from './sessions.ts'
export { createManagementToken, listManagementTokens, revokeManagementToken, type ManagementToken } from './tokens.ts'
export type { Vault } from './vault.ts'
export { openInstalledVault, rotateVaultKey } from './vault-key.ts'
