export type { Attempts } from './credentials/attempts.ts'
export { openSharedAttempts } from './credentials/shared-attempts.ts'
export { auditChoices, exportAudit, listAudit, recordAct, timesOfActs, type AuditEntry } from './people/audit.ts'
export { actsBetween, lastActsBefore, type PastAct } from './people/past-acts.ts'
export { authenticateManagement } from './authenticate.ts'
export { labelOf, personOf, systemCaller, type Caller } from './people/caller.ts'
export {
  acceptInvitation,
  invite,
  listInvitations,
  makeSignInLink,
  readInvitation,
  signInByLink,
  withdrawInvitation,
} from './people/links.ts'
export { exampleProjectId, noteExampleDone, noteExampleProject, readExampleState } from './people/installation.ts'
export { admit, admitToQuery, isGoodKey, type Admission, type KeyCaller } from './keys/admit.ts'
export { mintBrowserToken } from './keys/mint-browser-token.ts'
export { keyCredential, type KeyCredential } from './keys/snapshot.ts'
export { addressesOfKey, findKey, keyNames, listKeys, type ApiKey } from './keys/find.ts'
export { grantablePlans } from './keys/grantable.ts'
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
export {
  findSharedReference,
  listSharedReferences,
  shareReference,
  unshareReference,
} from './people/shared-references.ts'
export {
  createQueryLink,
  listQueryLinks,
  revokeQueryLink,
  type NewQueryLink,
  type QueryLink,
} from './query-links/query-links.ts'
export { openKeyAccess, type KeyAccess } from './keys/open-keys.ts'
export { permittedQueries, type Permission } from './keys/permissions.ts'
export { reachOfKey, type Reach } from './keys/reach.ts'
export { placeFor, resolveCall, resolveScope, withFixedParameters } from './keys/resolve.ts'
export { forgetOldAddresses, type KeyUses } from './keys/uses.ts'
export type { Buckets } from './limits/buckets.ts'
export type { Standing } from './limits/limiter.ts'
export type { ClientDocuments } from './oauth/client-documents.ts'
export { findClient, registerClient } from './oauth/clients.ts'
export { approveClient, endLapsedGrants, exchangeCode, refreshGrant, revokeGrant } from './oauth/grants.ts'
export type { TokenOutcome } from './oauth/refusals.ts'
export {
  approveProgram,
  beginDevice,
  decideDevice,
  exchangeDeviceCode,
  exchangeProgramCode,
  findDevice,
  forgetOldSignIns,
  revokeProgramToken,
} from './oauth/sign-ins.ts'
export { addMember, listMembers, membershipsOf } from './people/members.ts'
export { changeRole, removeMember } from './members/change-members.ts'
export { createPasswords, type PasswordCost, type Passwords } from './credentials/passwords.ts'
export type { ProjectDirectory } from './people/project-directory.ts'
export { actAs, ensureFirstUser, findUser, signIn, updateSelf, type User, type UserCaller } from './people/people.ts'
export { effectiveRole, personBehind, requireRole } from './people/roles.ts'
export { endSession, findSession, forgetExpired, openSession, renewSession } from './people/sessions.ts'
export { createManagementToken, listManagementTokens, revokeManagementToken } from './people/tokens.ts'
export type { Vault } from './credentials/vault.ts'
export { openInstalledVault, resealColumn, rotateVaultKey } from './credentials/vault-key.ts'
