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
export { changeRole, listMembers, removeMember, type Member } from './members.ts'
export { ensureFirstUser, findUser, signIn, updateSelf, type User, type UserCaller } from './people.ts'
export { effectiveRole, personBehind, requireRole } from './roles.ts'
export { endSession, findSession, keepSession } from './sessions.ts'
export { createManagementToken, listManagementTokens, revokeManagementToken, type ManagementToken } from './tokens.ts'
export { openVault, readSecretKey, type Vault } from './vault.ts'
