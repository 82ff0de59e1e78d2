/** Error codes of the console and of payment callbacks; `/v1` never returns them (behaviour: console 5). */
import type { ErrorEntry } from './errors.ts'

export const consoleErrorCatalogue = {
  csrf_header_missing: {
    status: 403,
    title: 'The request does not say that it comes from the console.',
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
    title: 'Signing in is locked after five failures in a row.',
    fix: 'Wait the seconds of Retry-After, or choose a new password by the link in the e-mail.',
  },
  token_invalid: {
    status: 400,
    title: 'The link was used, has expired or was never given out.',
    fix: 'Ask for a new one.',
  },
  account_required: {
    status: 403,
    title: 'No account is chosen, or it is none of yours.',
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
    title: 'This cannot be done for somebody else.',
    fix: 'End the impersonation first.',
  },
  reauthentication_required: {
    status: 403,
    title: 'You signed in too long ago for this.',
    fix: 'Give your password once more, then repeat.',
  },
  email_taken: { status: 409, title: 'Another user has this e-mail address.', fix: 'Give another one.' },
  member_exists: {
    status: 409,
    title: 'This person is a member of the account already.',
    fix: 'Change the role in the team instead.',
  },
  identity_exists: {
    status: 409,
    title: 'This identity is linked with another user.',
    fix: 'Sign in with it, or link another one.',
  },
  last_sign_in_method: {
    status: 409,
    title: 'Nobody could sign in as you afterwards.',
    fix: 'Set a password or link an identity first.',
  },
  oauth_pending_expired: { status: 400, title: 'No sign-in waits to be confirmed.', fix: 'Start again.' },
  api_key_limit: {
    status: 400,
    title: 'The account has 50 keys that are not revoked.',
    fix: 'Revoke one that is not used any more.',
  },
  import_file_invalid: {
    status: 400,
    title: 'The file is empty or no text in UTF-8.',
    fix: 'Save it as CSV UTF-8 in your spreadsheet, then upload it again.',
  },
  import_state_invalid: {
    status: 409,
    title: 'The import is past that step.',
    fix: 'Reload it to see where it stands.',
  },
  signature_invalid: {
    status: 400,
    title: 'The signature of the callback is missing or wrong.',
    fix: "Set the signing secret of the provider's webhook endpoint.",
  },
} as const satisfies Record<string, ErrorEntry>

export type ConsoleErrorCode = keyof typeof consoleErrorCatalogue
