/**
 * What an error says of the database: that the connection broke, after which what was sent may have been committed all the same; that it cannot be asked; that it
 * takes no writes; or that the statement was ended. Anything else is the statement's own fault.
 */

const lostCodes = new Set([
  'CONNECTION_CLOSED',
  'CONNECTION_ENDED',
  'CONNECTION_DESTROYED',
  'CONNECT_TIMEOUT',
  'ECONNREFUSED',
  'ECONNRESET',
  'EPIPE',
  'ENOENT',
  'ETIMEDOUT',
  'EHOSTUNREACH',
  'ENOTFOUND',
  '57P01',
  '57P02',
  '57P03',
])
const closedCodes = ['CONNECTION_ENDED', 'CONNECTION_DESTROYED']
const refusedCodes = ['CONNECT_TIMEOUT', 'ECONNREFUSED', 'ENOENT', 'EHOSTUNREACH', 'ENOTFOUND', '57P03']
/** Broken connection, shutting down, starting up, or no connection left (PostgreSQL: Appendix A). */
const unreachableState = /^(08...|57P0[1-5]|53300)$/
/** No such login or database, or one that takes no connections: of a statement these are its own fault. */
const refusedLogin = /^(28...|3D000|55000)$/

/** Errors of files have codes of the same names, and a `path`: they say nothing of the database. */
const codeOf = (error: unknown): string =>
  error instanceof Error && 'code' in error && !('path' in error) ? String(error.code) : ''

/** True when the connection broke; nobody knows whether the statement was carried out. */
export const connectionLost = (error: unknown): boolean =>
  lostCodes.has(codeOf(error)) || codeOf(error).startsWith('08')

/** True for what was asked of a pool after this process had closed it: it is stopping, and the database is well. */
export const poolClosed = (error: unknown): boolean => closedCodes.includes(codeOf(error))

/** True when no connection came about at all: the statement was certainly not carried out. */
export const neverSent = (error: unknown): boolean => refusedCodes.includes(codeOf(error))

/** Out of disk, memory or another resource, a failure of the disk, and read-only (PostgreSQL: Appendix A). */
const refusedState = /^(53[0-2]00|58030|25006)$/

/** True for an error that says that the database cannot write now: its disk is full, fails or is read-only. What was asked for was not done. */
export const refusesWrites = (error: unknown): boolean =>
  refusedState.test(codeOf(error)) ||
  (codeOf(error) === '42501' && (error as Error).message.endsWith(': Read-only file system'))

/** True for a statement that was ended from outside: by an operator, or because it took too long. What was asked for was not done. */
export const wasCancelled = (error: unknown): boolean => codeOf(error) === '57014'

/** True for an error that says that the database could not be asked. */
export const isUnreachable = (error: unknown): boolean =>
  lostCodes.has(codeOf(error)) ||
  unreachableState.test(codeOf(error)) ||
  (refusedLogin.test(codeOf(error)) && endedSession(error))

/** True for an error that says nothing of what was to be written: the database is away, takes no writes or gave the statement up, or others were in the way. It may pass. */
export const mayPass = (error: unknown): boolean =>
  connectionLost(error) ||
  isUnreachable(error) ||
  refusesWrites(error) ||
  wasCancelled(error) ||
  /^(40...|55P03)$/.test(codeOf(error))

const endedSession = (error: unknown): boolean => (error as { severity?: unknown }).severity === 'FATAL'
