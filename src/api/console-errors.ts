/** Error codes of the console and of payment callbacks; `/v1` never returns them (behaviour: console 5). */
import type { ErrorEntry } from './errors.ts'

export const consoleErrorCatalogue = {
  csrf_header_missing: {
    status: 403,
    title: 'The header Service-Console is missing.',
    fix: 'Send the header `Service-Console: 1`, from a page of this origin.',
  },
  session_required: { status: 401, title: 'Nobody is signed in.', fix: 'Sign in, then repeat.' },
  invalid_credentials: {
    status: 401,
    title: 'The e-mail address, the password or the code is wrong.',
    fix: 'Check them and try again.',
  },
  mfa_required: {
    status: 401,
    title: 'The password is right; the second factor is missing.',
    fix: 'Send the six digits of the authenticator app as `code`.',
  },
  account_locked: {
    status: 429,
    title: 'Signing in is locked after too many failures.',
    fix: 'Wait for the seconds in Retry-After, or reset your password with the link in the e-mail.',
  },
  token_invalid: {
    status: 400,
    title: 'The link was used, has expired or is invalid.',
    fix: 'Ask for a new one.',
  },
  account_required: {
    status: 403,
    title: 'No account is chosen, or you are not a member of it.',
    fix: 'Send the id of an account that GET /console/api/session lists as the header `Service-Account`.',
  },
  role_not_allowed: {
    status: 403,
    title: 'Your role does not allow this.',
    fix: 'Ask an owner or administrator of the account.',
  },
  admin_required: { status: 403, title: 'This is for administrators of the platform.', fix: 'Ask one of them.' },
  impersonation_restricted: {
    status: 403,
    title: 'This is not allowed while you impersonate another user.',
    fix: 'End the impersonation first.',
  },
  reauthentication_required: {
    status: 403,
    title: 'This requires a recent sign-in.',
    fix: 'Enter your password again, then repeat.',
  },
  email_taken: { status: 409, title: 'Another user has this e-mail address.', fix: 'Use another address.' },
  member_exists: {
    status: 409,
    title: 'This person is already a member of the account.',
    fix: 'Change the role in the team instead.',
  },
  identity_exists: {
    status: 409,
    title: 'This identity is linked with another user.',
    fix: 'Sign in with it, or link another one.',
  },
  last_sign_in_method: {
    status: 409,
    title: 'You could not sign in afterwards.',
    fix: 'Set a password or link an identity first.',
  },
  oauth_pending_expired: { status: 400, title: 'There is no sign-in to confirm.', fix: 'Start again.' },
  api_key_limit: {
    status: 400,
    title: 'The account has 50 keys that are not revoked.',
    fix: 'Revoke an unused key.',
  },
  import_file_invalid: {
    status: 400,
    title: 'The file is empty or not UTF-8 text.',
    fix: 'Save it as CSV UTF-8 in your spreadsheet, then upload it again.',
  },
  import_state_invalid: {
    status: 409,
    title: 'The import is already past this step.',
    fix: 'Reload it to see its status.',
  },
  signature_invalid: {
    status: 400,
    title: 'The signature of the callback is missing or wrong.',
    fix: "Set the signing secret of the provider's webhook endpoint.",
  },
} as const satisfies Record<string, ErrorEntry>

export type ConsoleErrorCode = keyof typeof consoleErrorCatalogue
